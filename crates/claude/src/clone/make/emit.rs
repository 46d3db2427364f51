//! The clone's bytes: planned records, then where it comes from and what it is called.

use super::Prepared;
use super::plan::Item;
use super::rewrite::{Changed, Rewriter};
use crate::clone::{CloneError, Lineage, LineageSource, Order};
use backstory_format::json::Tape;
use backstory_model::Span;
use backstory_store::StoreError;
use std::io::Write;

/// A clone about to be written, as often as wanted.
#[derive(Debug)]
pub(super) struct Emission<'a> {
    order: &'a Order<'a>,
    prepared: &'a Prepared,
    engine: &'static str,
}

/// The time of a record as the client writes it.
pub(super) fn client_time(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

impl<'a> Emission<'a> {
    pub(super) fn new(
        order: &'a Order<'a>,
        prepared: &'a Prepared,
        engine: &'static str,
    ) -> Emission<'a> {
        Emission { order, prepared, engine }
    }

    /// Writes all of it.
    pub(super) fn write(&self, out: &mut dyn Write) -> Result<(), CloneError> {
        let prepared = self.prepared;
        let rows = &prepared.gathered.inspector.rows;
        let mut reader = prepared.source.open()?;
        let mut rewriter = Rewriter {
            rows,
            plan: &prepared.plan,
            options: self.order.options,
            source: &self.order.files.id,
            now: client_time(self.order.now),
            moved: prepared.moved.clone(),
            limits: self.order.store.limits(),
            sent: 0,
            tape: Tape::new(),
        };
        let changed = |_: Changed| StoreError::Changed { path: self.order.files.path.clone() };
        for item in &prepared.plan.items {
            let record = match item {
                Item::Row { row, parent } => {
                    let Some(there) = rows.row(*row) else { continue };
                    let place = Span { offset: there.offset, length: there.length };
                    rewriter.row(reader.bytes(place)?, *row, *parent)
                }
                Item::Other(at) => {
                    let Some(other) = prepared.gathered.others.get(*at) else { continue };
                    rewriter.other(reader.bytes(other.place)?)
                }
            };
            out.write_all(&record.map_err(changed)?)?;
            out.write_all(b"\n")?;
        }
        self.line(out, &self.lineage())?;
        self.line(out, &self.title())
    }

    fn line(&self, out: &mut dyn Write, value: &impl serde::Serialize) -> Result<(), CloneError> {
        serde_json::to_writer(&mut *out, value).map_err(std::io::Error::from)?;
        Ok(out.write_all(b"\n")?)
    }

    fn lineage(&self) -> Lineage {
        let (order, prepared) = (self.order, self.prepared);
        let mut ancestors = Vec::new();
        if let Some(before) = &prepared.gathered.lineage {
            ancestors.clone_from(&before.source.ancestors);
            ancestors.push(before.source.session.clone());
        }
        Lineage {
            kind: Lineage::KIND.to_owned(),
            session: order.id.to_owned(),
            made_by: concat!("backstory ", env!("CARGO_PKG_VERSION")).to_owned(),
            made_at: client_time(order.now),
            source: LineageSource {
                session: order.files.id.clone(),
                path: order.files.path.to_string_lossy().into_owned(),
                bytes: prepared.before.bytes,
                records: prepared.before.records,
                ancestors,
            },
            options: order.options.clone(),
            engine: self.engine.to_owned(),
            counts: prepared.plan.counts.clone(),
        }
    }

    /// The last record: readers look for the title at the end.
    fn title(&self) -> impl serde::Serialize + use<> {
        #[derive(serde::Serialize)]
        struct CustomTitle {
            #[serde(rename = "type")]
            kind: &'static str,
            #[serde(rename = "customTitle")]
            title: String,
            #[serde(rename = "sessionId")]
            session: String,
        }
        CustomTitle {
            kind: "custom-title",
            title: self.prepared.title.clone(),
            session: self.order.id.to_owned(),
        }
    }
}
