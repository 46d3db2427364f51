//! The splitter: one pass over the script, with a stack only for substitutions.

use super::{Command, Document, Link, Operator, Redirection, Script, Word};
use backstory_format::slice::Part;
use std::ops::Range;

/// Substitutions within substitutions that are followed; what is deeper is text.
const DEEPEST: u32 = 40;

/// Splits a script.
pub(super) fn split(text: &str) -> Script<'_> {
    let mut splitter = Splitter { text, ..Splitter::default() };
    let mut commands = splitter.commands(Until::End);
    splitter.attach_documents(&mut commands);
    Script { text, commands, gaps: splitter.gaps }
}

/// What ends a run of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// The end of the script.
    End,
    /// The parenthesis that closes a substitution.
    Parenthesis,
}

/// A here-document that begins on the next line.
#[derive(Debug)]
struct Awaited {
    end: String,
    /// Tabs in front of its lines do not count.
    strips_tabs: bool,
}

#[derive(Debug, Default)]
pub(super) struct Splitter<'s> {
    pub(super) text: &'s str,
    pub(super) at: usize,
    pub(super) depth: u32,
    /// Quotes that the text is in.
    pub(super) quotes: u32,
    awaited: Vec<Awaited>,
    /// Those that were read, in the order in which they were announced.
    documents: Vec<Document>,
    gaps: Vec<Range<usize>>,
}

impl Splitter<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn follows(&self, text: &str) -> bool {
        self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    /// Commands up to what ends them, which is left to be read.
    pub(super) fn commands(&mut self, until: Until) -> Vec<Command> {
        let mut done: Vec<Command> = Vec::new();
        let mut open = Command::default();
        let mut parentheses = 0_u32;
        while let Some(byte) = self.peek() {
            let start = self.at;
            match byte {
                b' ' | b'\t' | b'\r' => self.gap(1),
                b'\\' if self.follows("\\\n") => self.gap(2),
                b'#' => {
                    let rest = self.text.part(start..);
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                b'\n' => {
                    close(&mut done, &mut open, Link::Sequence, start);
                    self.gap(1);
                    self.read_documents();
                }
                b')' if until == Until::Parenthesis && parentheses == 0 => break,
                b'(' if open.words.is_empty() && self.arithmetic("((") => {}
                b';' | b'(' | b')' => {
                    match byte {
                        b'(' => parentheses += 1,
                        b')' => parentheses = parentheses.saturating_sub(1),
                        _ => {}
                    }
                    close(&mut done, &mut open, Link::Sequence, start);
                    self.at += 1;
                }
                b'&' if self.follows("&>") => self.redirect(&mut open),
                b'&' | b'|' => {
                    let links = [("&&", Link::And), ("||", Link::Or), ("|&", Link::Pipe)];
                    let link = links.into_iter().find(|(text, _)| self.follows(text));
                    let one = if byte == b'&' { Link::Background } else { Link::Pipe };
                    let (length, link) = link.map_or((1, one), |(text, link)| (text.len(), link));
                    close(&mut done, &mut open, link, start);
                    self.at += length;
                }
                b'<' | b'>' if !self.substitutes_process() => self.redirect(&mut open),
                b'0'..=b'9' if self.is_descriptor() => self.redirect(&mut open),
                _ => {
                    let word = self.word(&mut open.substituted);
                    extend(&mut open.span, &word.span);
                    open.words.push(word);
                }
            }
        }
        let end = self.at;
        close(&mut done, &mut open, Link::Sequence, end);
        done
    }

    fn gap(&mut self, length: usize) {
        let range = self.at..self.at + length;
        self.at = range.end;
        if self.quotes > 0 {
            return;
        }
        match self.gaps.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.gaps.push(range),
        }
    }

    /// `<(` and `>(` begin a word.
    fn substitutes_process(&self) -> bool {
        self.follows("<(") || self.follows(">(")
    }

    /// Whether the digits here stand in front of a redirection.
    fn is_descriptor(&self) -> bool {
        let rest = self.text.as_bytes().part(self.at..);
        let mut rest = rest.iter().skip_while(|byte| byte.is_ascii_digit());
        matches!(rest.next(), Some(b'<' | b'>'))
    }

    fn redirect(&mut self, open: &mut Command) {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        // The longest first.
        const OPERATORS: [(&str, Operator); 12] = [
            ("<<<", Operator::Text),
            ("<<-", Operator::Document),
            ("&>>", Operator::Append),
            ("<<", Operator::Document),
            ("<&", Operator::Duplicate),
            ("<>", Operator::Input),
            (">>", Operator::Append),
            (">|", Operator::Output),
            (">&", Operator::Output),
            ("&>", Operator::Output),
            ("<", Operator::Input),
            (">", Operator::Output),
        ];
        let found = OPERATORS.into_iter().find(|(text, _)| self.follows(text));
        let Some((written, mut operator)) = found else { return };
        self.at += written.len();
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.gap(1);
        }
        let target = self.word(&mut open.substituted);
        let number = target.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if written == ">&" && number {
            operator = Operator::Duplicate;
        }
        if operator == Operator::Document {
            let end = target.text.clone();
            self.awaited.push(Awaited { end, strips_tabs: written == "<<-" });
        }
        let span = start..target.span.end;
        extend(&mut open.span, &span);
        open.redirections.push(Redirection { operator, target, span, document: None });
    }

    /// A word, up to a blank or an operator.
    fn word(&mut self, substituted: &mut Vec<Command>) -> Word {
        let start = self.at;
        let mut text = String::new();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => break,
                b'<' | b'>' if !self.substitutes_process() => break,
                _ => self.piece(&mut text, substituted),
            }
        }
        Word { text, span: start..self.at }
    }

    /// The here-documents that the last line announced.
    fn read_documents(&mut self) {
        for Awaited { end, strips_tabs } in std::mem::take(&mut self.awaited) {
            let start = self.at;
            let mut document = Document { lines: start..self.text.len(), end: self.text.len() };
            for line in self.text.part(start..).split_inclusive('\n') {
                let begin = self.at;
                self.at += line.len();
                let line = line.trim_end_matches(['\n', '\r']);
                let line = if strips_tabs { line.trim_start_matches('\t') } else { line };
                if line == end {
                    document = Document { lines: start..begin, end: self.at };
                    break;
                }
            }
            self.documents.push(document);
        }
    }

    /// Gives each here-document to the redirection that announced it.
    fn attach_documents(&mut self, commands: &mut [Command]) {
        let mut announced: Vec<&mut Redirection> = Vec::new();
        let mut waiting: Vec<&mut Command> = commands.iter_mut().collect();
        while let Some(Command { redirections, substituted, .. }) = waiting.pop() {
            let documents = redirections.iter_mut();
            announced.extend(documents.filter(|one| one.operator == Operator::Document));
            waiting.extend(substituted.iter_mut());
        }
        announced.sort_by_key(|redirection| redirection.span.start);
        for (redirection, document) in announced.into_iter().zip(self.documents.drain(..)) {
            redirection.document = Some(document);
        }
    }

    /// Commands in a substitution.
    pub(super) fn substitution(&mut self, until: Until) -> Vec<Command> {
        self.depth += 1;
        let commands = self.commands(until);
        self.depth -= 1;
        commands
    }

    pub(super) fn is_deepest(&self) -> bool {
        self.depth >= DEEPEST
    }
}

fn extend(span: &mut Range<usize>, by: &Range<usize>) {
    if span.start == span.end {
        span.start = by.start;
    }
    span.end = by.end;
}

/// Ends a command. What connects nothing to the next, such as `)` before `|`, belongs to the last.
fn close(done: &mut Vec<Command>, open: &mut Command, link: Link, link_at: usize) {
    if open.words.is_empty() && open.redirections.is_empty() {
        if let Some(last) = done.last_mut().filter(|_| link != Link::Sequence) {
            (last.link, last.link_at) = (link, link_at);
        }
        return;
    }
    let command = std::mem::take(open);
    done.push(Command { link, link_at, ..command });
}
