//! Fences that an answer never closes: it was cut, or the model forgot.
//!
//! What the program writes next would be taken for code, up to the end of the session. So a fence
//! with lines in it that are unmistakably the program's is looked at twice: where it has no end, or
//! only one that belongs to a later fence, it ends before these lines. A fence that merely quotes
//! them is closed behind them, and the fences that follow it pair up.

use super::{asked, is_end, is_notice, tokens};
use crate::common::Fence;
use backstory_format::slice::item;

/// So far behind a fence is looked whether those that follow pair up.
const WINDOW: usize = 4096;

/// Where the fence that is opened on line `opened` ends without being closed, if it does.
pub(super) fn end(lines: &[&str], opened: usize, fence: Fence) -> Option<usize> {
    let mut first = None;
    let mut close = None;
    for (at, line) in lines.iter().enumerate().skip(opened + 1) {
        let start = line.trim_start();
        if fence.is_closed_by(start) {
            close = Some(at);
            break;
        }
        first = first.or_else(|| is_programs(lines, at).then_some(at));
        // Code does not open a fence of its own kind, the next answer does.
        if first.is_some() && fence.is_opened_by(start) {
            break;
        }
    }
    let first = first?;
    if let Some(close) = close {
        let closed = hidden(lines, close + 1, close + WINDOW);
        let left_open = hidden(lines, first, close + WINDOW);
        if left_open >= closed {
            return None;
        }
    }
    // What the program says right before them is its own, too.
    let before = lines.get(opened + 1..first)?.iter().rev();
    Some(first - before.take_while(|line| is_notice(line) && is_end(line)).count())
}

/// How many of the program's lines are inside of fences if one reads on from `start`.
fn hidden(lines: &[&str], start: usize, end: usize) -> usize {
    let mut open: Option<Fence> = None;
    let mut count = 0;
    for (at, line) in lines.iter().enumerate().take(end).skip(start) {
        let text = line.trim_start();
        match open {
            Some(fence) if fence.is_closed_by(text) => open = None,
            Some(_) => count += usize::from(is_programs(lines, at)),
            None if is_notice(line) || asked(line).is_some() => {}
            None => open = Fence::opened(text).map(|(fence, _)| fence),
        }
    }
    count
}

/// Whether a line is one that the program writes and hardly anybody else: below an empty line or
/// another one of its own, with two spaces at its end.
fn is_programs(lines: &[&str], at: usize) -> bool {
    let line = item(lines, at);
    let before = at.checked_sub(1).and_then(|before| lines.get(before)).copied();
    let empty = before.is_none_or(|line| line.trim().is_empty());
    if asked(line).is_some() {
        return is_end(line) && empty;
    }
    let Some(notice) = line.strip_prefix("> ").filter(|_| empty || before.is_some_and(is_notice))
    else {
        return false;
    };
    // Nobody else counts tokens like this; an editor may have taken the spaces away.
    tokens(notice.trim_end()).is_some()
        || is_end(line)
            && ["Applied edit to ", "Commit "].iter().any(|word| notice.starts_with(word))
}
