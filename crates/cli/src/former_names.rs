//! Former names of commands and options. They work for one release, with a notice.

use std::ffi::OsString;

const COMMANDS: [(&str, &str); 1] = [("analyze", "spec")];

/// Options by command: the former name and the name of today.
const OPTIONS: [(&str, &str, &str); 6] = [
    ("clone", "--band", "--compress"),
    ("clone", "--up-to", "--until-turn"),
    ("export", "--chain", "--history"),
    ("export", "--per", "--rows-per"),
    ("replay", "--gate", "--select"),
    ("replay", "--gate-report", "--select-report"),
];

/// Values of options: the option, the former value and the value of today.
const VALUES: [(&str, &str, &str); 1] = [("--select", "voi", "worth-asking")];

/// Global options whose value is the next argument.
const WITH_VALUE: [&str; 3] = ["--root", "--color", "--max-record"];

/// The arguments with the names of today, and a notice for each former name.
pub(crate) fn replace(arguments: Vec<OsString>) -> (Vec<OsString>, Vec<String>) {
    let mut notices = Vec::new();
    let mut note = |former: &str, today: &str| {
        notices.push(format!("`{former}` is now called `{today}`; the old name still works"));
    };
    let mut command: Option<String> = None;
    let mut replaced: Vec<OsString> = Vec::with_capacity(arguments.len());
    let mut is_operand = false;
    for (at, argument) in arguments.into_iter().enumerate() {
        let before = replaced.last().and_then(|before| before.to_str()).unwrap_or_default();
        let Some(text) = argument.to_str().filter(|_| at > 0 && !is_operand) else {
            replaced.push(argument);
            continue;
        };
        if text == "--" {
            is_operand = true;
        }
        let is_value = WITH_VALUE.contains(&before);
        let next = if text.starts_with('-') {
            let (name, value) = text.split_once('=').map_or((text, None), |(n, v)| (n, Some(v)));
            let found = OPTIONS
                .iter()
                .find(|(of, former, _)| command.as_deref() == Some(*of) && *former == name);
            let today = found.map_or(name, |(_, former, today)| {
                note(former, today);
                today
            });
            value.map_or(today.to_owned(), |value| {
                format!("{today}={}", of_today(today, value, &mut note))
            })
        } else if command.is_none() && !is_value {
            let found = COMMANDS.iter().find(|(former, _)| *former == text);
            let today = found.map_or(text, |(former, today)| {
                note(former, today);
                today
            });
            command = Some(today.to_owned());
            today.to_owned()
        } else {
            of_today(before, text, &mut note).to_owned()
        };
        replaced.push(if next == text { argument } else { OsString::from(next) });
    }
    (replaced, notices)
}

/// The value of an option by its name of today.
fn of_today<'v>(option: &str, value: &'v str, note: &mut impl FnMut(&str, &str)) -> &'v str {
    let found = VALUES.iter().find(|(of, former, _)| *of == option && *former == value);
    found.map_or(value, |(_, former, today)| {
        note(former, today);
        today
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(line: &str) -> (String, usize) {
        let arguments = line.split(' ').map(OsString::from).collect();
        let (replaced, notices) = replace(arguments);
        let texts: Vec<&str> = replaced.iter().map(|one| one.to_str().unwrap()).collect();
        (texts.join(" "), notices.len())
    }

    #[test]
    fn replace_knows_commands_options_and_values() {
        for (former, today, notices) in [
            ("backstory analyze --drift", "backstory spec --drift", 1),
            ("backstory --root analyze ls", "backstory --root analyze ls", 0),
            ("backstory ls analyze", "backstory ls analyze", 0),
            (
                "backstory clone x --band 0-50:light --up-to=3",
                "backstory clone x --compress 0-50:light --until-turn=3",
                2,
            ),
            ("backstory replay x --gate voi", "backstory replay x --select worth-asking", 2),
            ("backstory replay x --gate=voi", "backstory replay x --select=worth-asking", 2),
            (
                "backstory export --per step --chain story",
                "backstory export --rows-per step --history story",
                2,
            ),
            ("backstory show --band 3", "backstory show --band 3", 0),
            ("backstory capture -- analyze --per", "backstory capture -- analyze --per", 0),
        ] {
            assert_eq!(replaced(former), (today.to_owned(), notices), "{former}");
        }
    }
}
