//! Colours that programs print for a terminal.
//!
//! Only what changes how letters look is understood: sixteen colours, bold, dim, italic,
//! underlined. Backgrounds, blinking and hidden text are dropped, since they can make text
//! invisible. Any other escape sequence is not touched here and becomes visible in `escape`.

use backstory_format::slice::Part;
use std::borrow::Cow;

/// How letters look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look {
    /// One of the sixteen colours of a terminal.
    pub colour: Option<u8>,
    /// Heavy letters.
    pub bold: bool,
    /// Faint letters.
    pub dim: bool,
    /// Slanted letters.
    pub italic: bool,
    /// A line below.
    pub underline: bool,
}

/// Text in pieces of one look each, without the sequences that say so; `look` is that of the text
/// before and becomes that at the end.
pub fn runs<'a>(text: &'a str, look: &mut Look) -> Vec<(Look, &'a str)> {
    let mut runs = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = rest.part(from..).find('\u{1b}').map(|at| from + at) {
        match sequence(rest.part(at..)) {
            Some((codes, length)) => {
                runs.push((*look, rest.part(..at)));
                look.change(codes);
                rest = rest.part(at + length..);
                from = 0;
            }
            None => from = at + 1,
        }
    }
    runs.push((*look, rest));
    runs.retain(|(_, text)| !text.is_empty());
    runs
}

/// Text without the sequences that change how letters look.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains("\u{1b}[") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(runs(text, &mut Look::default()).into_iter().map(|(_, text)| text).collect())
}

/// The codes of the sequence at the start of a text, and its length.
fn sequence(text: &str) -> Option<(&str, usize)> {
    const LONGEST: usize = 64;
    let codes = text.strip_prefix("\u{1b}[")?;
    let end = codes
        .bytes()
        .take(LONGEST)
        .position(|byte| !(byte.is_ascii_digit() || matches!(byte, b';' | b':')))?;
    (codes.as_bytes().get(end) == Some(&b'm')).then(|| (codes.part(..end), end + 3))
}

impl Look {
    fn change(&mut self, codes: &str) {
        let mut codes = codes.split([';', ':']).map(|code| code.parse::<u16>().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Look::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underline = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underline = false,
                30..=37 => self.colour = u8::try_from(code - 30).ok(),
                90..=97 => self.colour = u8::try_from(code - 90 + 8).ok(),
                38 => self.colour = of_many(&mut codes),
                39 => self.colour = None,
                48 | 58 => {
                    let _ = of_many(&mut codes);
                }
                _ => {}
            }
        }
    }
}

/// One of many colours as the nearest of the sixteen.
fn of_many(codes: &mut impl Iterator<Item = u16>) -> Option<u8> {
    match codes.next()? {
        5 => match codes.next()? {
            number @ 0..=15 => u8::try_from(number).ok(),
            number @ 16..=231 => {
                let number = number - 16;
                let level = |part: u16| if part == 0 { 0 } else { 55 + part * 40 };
                Some(nearest(level(number / 36), level(number / 6 % 6), level(number % 6)))
            }
            grey @ 232..=255 => {
                let level = (grey - 232) * 10 + 8;
                Some(nearest(level, level, level))
            }
            _ => None,
        },
        2 => {
            let (red, green, blue) = (codes.next()?, codes.next()?, codes.next()?);
            Some(nearest(red, green, blue))
        }
        _ => None,
    }
}

/// The hue by the strong parts; bright if they are very strong.
fn nearest(red: u16, green: u16, blue: u16) -> u8 {
    let most = red.max(green).max(blue);
    if most < 48 {
        return 0;
    }
    let strong = |part: u16| u8::from(u32::from(part) * 3 > u32::from(most) * 2);
    let hue = strong(red) + 2 * strong(green) + 4 * strong(blue);
    match (hue, most) {
        (7, 0..=160) => 8,
        (7, 161..=220) => 7,
        (hue, 221..) => hue + 8,
        (hue, _) => hue,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_read_and_other_sequences_stay() {
        let red = Look { colour: Some(1), bold: true, ..Look::default() };
        let mut look = Look::default();
        let text = "a\u{1b}[1;31mb\u{1b}[2Jc\u{1b}[0m\u{1b}[8md";
        let none = Look::default();
        assert_eq!(runs(text, &mut look), [(none, "a"), (red, "b\u{1b}[2Jc"), (none, "d")]);
        assert_eq!(plain("\u{1b}[32mok\u{1b}[m \u{1b}[9"), "ok \u{1b}[9");
        assert!(matches!(plain("\u{1b}]0;x\u{7}"), Cow::Borrowed(_)));
    }

    #[test]
    fn many_colours_become_sixteen() {
        let colour = |codes: &str| {
            let mut look = Look::default();
            look.change(codes);
            look.colour
        };
        assert_eq!(colour("38;5;9"), Some(9));
        assert_eq!(colour("38;2;255;0;0"), Some(9));
        assert_eq!(colour("38;2;10;180;20"), Some(2));
        assert_eq!(colour("38;5;244"), Some(8));
        assert_eq!(colour("48;5;1;34"), Some(4));
        assert_eq!((colour("38"), colour("38;5")), (None, None));
    }

    #[test]
    fn floods_cost_one_pass() {
        assert_eq!(plain(&"\u{1b}[".repeat(200_000)).len(), 400_000);
        assert_eq!(plain(&"\u{1b}[31m".repeat(200_000)), "");
    }
}
