//! A command line as simple commands: their words, and the files their output goes to.

use std::iter::Peekable;
use std::str::Chars;

/// One command with its words; quotes are taken off.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    pub(super) words: Vec<String>,
    /// Where output is redirected to.
    pub(super) outputs: Vec<String>,
}

/// What the next word is, after a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Word,
    Output,
    Input,
    /// The end of a here-document.
    End,
}

#[derive(Debug)]
struct Splitter {
    commands: Vec<Simple>,
    word: Option<String>,
    next: Next,
    /// Here-documents that begin on the next line.
    ends: Vec<String>,
}

/// Splits a command line into simple commands; here-documents are left out.
pub(super) fn simple_commands(command: &str) -> Vec<Simple> {
    let mut found = Splitter {
        commands: vec![Simple::default()],
        word: None,
        next: Next::Word,
        ends: Vec::new(),
    };
    let mut quote: Option<char> = None;
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some('"'), '\\') => found.word().extend(letters.next()),
            (Some(_), letter) => found.word().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                found.word();
            }
            // The command goes on in the next line.
            (None, '\\') if letters.next_if_eq(&'\n').is_some() => {}
            (None, '\\') => found.word().extend(letters.next()),
            (None, ' ' | '\t') => found.end_word(),
            (None, '>' | '<') => found.redirect(letter, &mut letters),
            (None, '&') if letters.peek() == Some(&'>') => found.end_word(),
            (None, '\n' | ';' | '|' | '(' | ')' | '&') => {
                found.end_command();
                if letter == '\n' {
                    for end in std::mem::take(&mut found.ends) {
                        skip_document(&mut letters, &end);
                    }
                }
            }
            (None, letter) => found.word().push(letter),
        }
    }
    found.end_command();
    let empty = |one: &Simple| one.words.is_empty() && one.outputs.is_empty();
    found.commands.retain(|one| !empty(one));
    found.commands
}

impl Splitter {
    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    fn end_word(&mut self) {
        let (Some(word), Some(command)) = (self.word.take(), self.commands.last_mut()) else {
            return;
        };
        match std::mem::replace(&mut self.next, Next::Word) {
            Next::Word => command.words.push(word),
            Next::Output => command.outputs.push(word),
            Next::Input => {}
            Next::End => self.ends.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.next = Next::Word;
        self.commands.push(Simple::default());
    }

    /// `>`, `>>`, `>|`, `>&`, `<`, `<<`, `<<-`, `<<<`, `<&`, `<>`; a number before it is part of it.
    fn redirect(&mut self, first: char, letters: &mut Peekable<Chars<'_>>) {
        if self.word.as_ref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let mut operator = first.to_string();
        while let Some(letter) = letters.next_if(|letter| matches!(letter, '<' | '>' | '&' | '|')) {
            operator.push(letter);
        }
        if operator == "<<" {
            letters.next_if(|letter| matches!(letter, '-' | '~'));
        }
        let digit = |letter: &char| letter.is_ascii_digit() || *letter == '-';
        self.next = match operator.as_str() {
            "<<" => Next::End,
            // Another number, not a file.
            ">&" if letters.peek().is_some_and(digit) => Next::Input,
            operator if operator.starts_with('>') => Next::Output,
            _ => Next::Input,
        };
    }
}

fn skip_document(letters: &mut Peekable<Chars<'_>>, end: &str) {
    let mut line = String::new();
    for letter in letters.by_ref() {
        if letter != '\n' {
            line.push(letter);
        } else if line.trim() == end {
            return;
        } else {
            line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_outputs() {
        let found = simple_commands("a 'b c'>x 2>&1 | d \"e\\\"f\" <in; g");
        let seen: Vec<(String, String)> =
            found.iter().map(|one| (one.words.join("/"), one.outputs.join("/"))).collect();
        let expected = [("a/b c", "x"), ("d/e\"f", ""), ("g", "")];
        assert_eq!(seen, expected.map(|(words, outputs)| (words.into(), outputs.into())));
        assert_eq!(simple_commands("  \n ;; "), []);
    }

    #[test]
    fn a_command_may_go_on_in_the_next_line() {
        let found = simple_commands("a \\\n  b c\\ d");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].words, ["a", "b", "c d"]);
    }

    #[test]
    fn here_documents_are_left_out() {
        let found = simple_commands("cat << END > x\nrm y\nEND\ncat <<-'A B'\nz\nA B\ntee w");
        let words: Vec<String> = found.iter().map(|one| one.words.join(" ")).collect();
        assert_eq!(words, ["cat", "cat", "tee w"]);
        assert_eq!(found[0].outputs, ["x"]);
    }
}
