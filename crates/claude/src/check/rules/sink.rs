//! Where findings of one file go, and which of the reader's problems they stand for.

use super::inspect::Reference;
use crate::check::{CheckId, Effect, Finding, Findings, Id};
use crate::rows::{RowIndex, Rows};
use backstory_format::ProblemId;
use backstory_model::Problems;
use std::borrow::Cow;

/// Collects findings about rows.
#[derive(Debug)]
pub(super) struct Sink<'a> {
    rows: &'a Rows,
    pub(super) findings: Findings,
    /// Lines of orphans that a finding of the check says more about.
    calls: hashbrown::HashMap<u64, u64>,
    results: hashbrown::HashMap<u64, u64>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(rows: &'a Rows) -> Sink<'a> {
        let (calls, results) = Default::default();
        Sink { rows, findings: Findings::default(), calls, results }
    }

    /// A finding about a row.
    pub(super) fn at(&mut self, id: CheckId, row: RowIndex, detail: impl Into<Cow<'static, str>>) {
        self.about(id, row, None, detail, id.effect());
    }

    /// A finding about something in a row.
    pub(super) fn about(
        &mut self,
        id: CheckId,
        row: RowIndex,
        subject: Option<Box<str>>,
        detail: impl Into<Cow<'static, str>>,
        effect: Effect,
    ) {
        let place = self.rows.row(row);
        self.findings.push(Finding {
            line: place.map(|row| u64::from(row.line)),
            offset: place.map(|row| row.offset),
            uuid: place.and_then(|row| self.rows.names.text(row.uuid)),
            subject,
            effect,
            ..Finding::of_file(id, detail)
        });
    }

    /// A finding about a record that is no row.
    pub(super) fn reference(
        &mut self,
        id: CheckId,
        reference: &Reference,
        detail: impl Into<Cow<'static, str>>,
    ) {
        self.findings.push(Finding {
            line: Some(reference.line),
            offset: Some(reference.place.offset),
            uuid: self.rows.names.text(reference.target),
            ..Finding::of_file(id, detail)
        });
    }

    /// A finding about the file.
    pub(super) fn file(&mut self, id: CheckId, detail: impl Into<Cow<'static, str>>) {
        self.findings.push(Finding::of_file(id, detail));
    }

    /// A call of this row is reported; if it has no result at all, the reader did so too.
    pub(super) fn replaces_orphan_call(&mut self, row: RowIndex, has_result: bool) {
        if let Some(row) = self.rows.row(row).filter(|_| !has_result) {
            *self.calls.entry(u64::from(row.line)).or_default() += 1;
        }
    }

    /// A result of this row is reported; if its call is nowhere, the reader did so too.
    pub(super) fn replaces_orphan_result(&mut self, row: RowIndex) {
        if let Some(row) = self.rows.row(row) {
            *self.results.entry(u64::from(row.line)).or_default() += 1;
        }
    }

    /// Takes over the problems of the reader, except those in `but` and what findings stand for.
    pub(super) fn take(&mut self, problems: &Problems, but: &[ProblemId]) {
        let mut listed = std::collections::BTreeMap::<ProblemId, u64>::new();
        for problem in problems.listed().iter().filter(|problem| !but.contains(&problem.id)) {
            *listed.entry(problem.id).or_default() += 1;
            let stands_for = match problem.id {
                ProblemId::OrphanCall => self.calls.get_mut(&problem.line),
                ProblemId::OrphanResult => self.results.get_mut(&problem.line),
                _ => None,
            };
            match stands_for.filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => self.findings.push(problem.into()),
            }
        }
        for (id, count) in problems.counts().iter().filter(|(id, _)| !but.contains(id)) {
            let known = listed.get(id).copied().unwrap_or(0);
            let mut rest = count - known.min(*count);
            let left = match id {
                ProblemId::OrphanCall => self.calls.values().sum(),
                ProblemId::OrphanResult => self.results.values().sum(),
                _ => 0,
            };
            rest = rest.saturating_sub(left);
            self.findings.count_unlisted(Id::Format(*id), rest);
        }
    }
}
