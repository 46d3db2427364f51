//! Files that stream editors change in place: which words of `sed` and `perl` are files, which are
//! scripts, and which are values of options.

use backstory_format::slice::Part;

/// Files that a `sed` changes.
pub(super) fn sed<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let mut found = Words::default();
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        match (word, word.split_once('=')) {
            ("--", _) => found.plain.extend(words.by_ref()),
            (_, Some(("--in-place", _))) | ("--in-place", _) => found.in_place = true,
            ("--expression" | "--file", _) => {
                words.next();
                found.has_script = true;
            }
            (_, Some(("--expression" | "--file", _))) => found.has_script = true,
            ("--line-length", _) => drop(words.next()),
            (long, _) if long.starts_with("--") => {}
            ("-", _) => {}
            _ => match word.strip_prefix('-') {
                None => found.plain.push(word),
                Some(letters) => {
                    // The one of BSD takes the ending of the copies as a word of its own.
                    let ending = letters.ends_with('i');
                    if found.options(letters, "efl", "ef") {
                        words.next();
                    } else if ending {
                        words.next_if(|next| next.is_empty() || is_ending(next));
                    }
                }
            },
        }
    }
    found.files()
}

/// The same of a `perl` or `ruby`.
pub(super) fn perl<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let mut found = Words::default();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            Some("-") => found.plain.extend(words.by_ref()),
            Some("") | None => found.plain.push(word),
            Some(letters) => {
                if found.options(letters, "eEI", "eE") {
                    words.next();
                }
            }
        }
    }
    found.files()
}

/// Whether options of a `perl` or `ruby` say that it changes files in place.
pub(super) fn edits(words: &[&str]) -> bool {
    let mut found = Words::default();
    let mut words = words.iter().filter_map(|word| word.strip_prefix('-'));
    words.any(|letters| {
        found.options(letters, "eEI", "eE");
        found.in_place
    })
}

/// `.bak`, `.orig`
fn is_ending(word: &str) -> bool {
    let rest = word.strip_prefix('.');
    rest.is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[derive(Debug, Default)]
struct Words<'w> {
    in_place: bool,
    /// The script is the value of an option, so that every plain word is a file.
    has_script: bool,
    plain: Vec<&'w str>,
}

impl<'w> Words<'w> {
    /// Takes short options in one word; whether the last of them has its value in the next word.
    /// Those in `valued` have a value, those in `scripts` hold the script.
    fn options(&mut self, letters: &str, valued: &str, scripts: &str) -> bool {
        for (at, letter) in letters.char_indices() {
            self.has_script |= scripts.contains(letter);
            let rest = letters.part(at + letter.len_utf8()..);
            match letter {
                // What follows is the ending of the copies.
                'i' => {
                    self.in_place = true;
                    return false;
                }
                // A module, or a pattern.
                'M' | 'm' | 'F' => return false,
                letter if valued.contains(letter) => return rest.is_empty(),
                _ => {}
            }
        }
        false
    }

    fn files(self) -> Vec<&'w str> {
        let script = usize::from(!self.has_script);
        let files = self.plain.get(script..).unwrap_or_default();
        if self.in_place { files.to_vec() } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_script_is_not_a_file() {
        for line in [
            &["-i", "s/a/b/", "f"][..],
            &["-i", "-e", "s/a/b/", "-e", "s/c/d/", "f"],
            &["-i", "-es/a/b/", "f"],
            &["-i", "-f", "script.sed", "f"],
            &["-i", "-fscript.sed", "f"],
            &["-n", "-i", "/a/p", "f"],
            &["-ni", "/a/p", "f"],
            &["-Ei", "s/a/b/", "f"],
            &["-i.bak", "s/a/b/", "f"],
            &["-i", ".bak", "s/a/b/", "f"],
            &["-i", "", "s/a/b/", "f"],
            &["-i", "", "-e", "s/a/b/", "f"],
            &["s/a/b/", "-i", "f"],
            &["--in-place", "--expression", "s/a/b/", "f"],
            &["--in-place=.bak", "--expression=s/a/b/", "f"],
            &["-i", "-l", "5", "s/a/b/", "f"],
            &["-i", "s/a/b/", "--", "f"],
        ] {
            assert_eq!(sed(line), ["f"], "{line:?}");
        }
        assert_eq!(sed(&["-i", "s/a/b/", "f", "-odd/g"]), ["f"]);
        assert_eq!(sed(&["-i", "s/a/b/", "f", "g"]), ["f", "g"]);
        for line in [&["-n", "5p", "f"][..], &["s/i/j/", "f"], &["-e", "s/-i/x/", "f"], &["-i"]] {
            assert!(sed(line).is_empty(), "{line:?}");
        }
    }

    #[test]
    fn programs_of_perl() {
        for line in [
            &["-pi", "-e", "s/a/b/", "f"][..],
            &["-i", "-pe", "s/a/b/", "f"],
            &["-i.bak", "-pe", "s/a/b/", "f"],
            &["-0pi", "-e", "s/a/b/", "f"],
            &["-p", "-i", "-e", "s/a/b/", "-e", "s/c/d/", "f"],
            &["-Mutf8", "-pi", "-E", "s/a/b/", "f"],
            &["-I", "lib", "-pi", "-e", "s/a/b/", "f"],
            &["-pi", "change.pl", "f"],
        ] {
            assert!(edits(line), "{line:?}");
            assert_eq!(perl(line), ["f"], "{line:?}");
        }
        for line in [&["-ne", "print if /i/", "f"][..], &["script.pl", "f"], &["-Mstrict", "f"]] {
            assert!(!edits(line), "{line:?}");
        }
    }
}
