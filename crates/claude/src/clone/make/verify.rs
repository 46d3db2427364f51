//! The proof of a clone that exists: it is made once more and compared as it comes.

use super::agents;
use super::emit::Emission;
use super::{engine_name, prepare};
use crate::clone::{CloneError, Find, Lineage, Offline, Order, Proof, Verified};
use backstory_format::{Problem, Record, Visitor};
use backstory_model::SessionFiles;
use backstory_store::{ReadContext, Store, read_file};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

/// See [`crate::clone::verify`].
pub(crate) fn verify_clone(
    files: &SessionFiles,
    store: &Store,
    find: Find<'_>,
) -> Result<Verified, CloneError> {
    let mut context = ReadContext::new(store);
    let (report, _) = crate::check::session(files, &mut context)?;
    let found = read_file(&files.path, &mut context, Finder::default)?;
    let lineage = found.visitor.0;
    let proof = match &lineage {
        None => Proof::NoLineage,
        Some(lineage)
            if lineage.engine != engine_name(&Offline) && !lineage.options.bands.is_empty() =>
        {
            Proof::NotRepeatable
        }
        Some(lineage) => make_again(lineage, files, store, find)?,
    };
    Ok(Verified { report, lineage, proof })
}

/// Finds what a file says of its origin.
#[derive(Debug, Default)]
struct Finder(Option<Lineage>);

impl Visitor for Finder {
    fn record(&mut self, record: &Record<'_>) {
        if record.value().get("type").is_some_and(|kind| kind.is_text(Lineage::KIND)) {
            self.0 = serde_json::from_slice(record.raw()).ok();
        }
    }

    fn problem(&mut self, _: Problem) {}
}

fn make_again(
    lineage: &Lineage,
    files: &SessionFiles,
    store: &Store,
    find: Find<'_>,
) -> Result<Proof, CloneError> {
    let path = Path::new(&lineage.source.path);
    let gone = |why: &str| Ok(Proof::NoSource(format!("`{}`: {why}", path.display())));
    if !path.is_file() {
        return gone("not there any more");
    }
    let Some(mut source) = find(path) else { return gone("no session") };
    if source.bytes != lineage.source.bytes {
        return gone("changed since");
    }
    let Ok(now) = lineage.made_at.parse() else { return gone("cloned at no known time") };
    source.id.clone_from(&lineage.source.session);
    let order = Order {
        files: &source,
        options: &lineage.options,
        id: &lineage.session,
        now,
        target: files.path.clone(),
        store,
    };
    let mut context = ReadContext::new(store);
    let mut prepared = prepare(&order, &Offline, &mut context)?;
    agents::choose(&order, &mut prepared, &mut context)?;
    let io = |cause| backstory_store::StoreError::Io { path: files.path.clone(), cause };
    let mut comparison = Comparison {
        file: BufReader::with_capacity(256 << 10, File::open(&files.path).map_err(io)?),
        at: 0,
        differs: None,
        buffer: Vec::new(),
    };
    Emission::new(&order, &prepared, engine_name(&Offline)).write(&mut comparison)?;
    Ok(match comparison.differs {
        Some(at) => Proof::Differs(at),
        None => match files.bytes.saturating_sub(comparison.at) {
            0 => Proof::Same,
            more => Proof::SameAndMore(more),
        },
    })
}

/// Takes bytes and holds them against a file.
#[derive(Debug)]
struct Comparison {
    file: BufReader<File>,
    at: u64,
    differs: Option<u64>,
    buffer: Vec<u8>,
}

impl Write for Comparison {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.differs.is_none() {
            self.buffer.clear();
            (&mut self.file).take(bytes.len() as u64).read_to_end(&mut self.buffer)?;
            let same = bytes.iter().zip(&self.buffer).take_while(|(one, two)| one == two).count();
            if same < bytes.len() {
                self.differs = Some(self.at + same as u64);
            }
            self.at += bytes.len() as u64;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
