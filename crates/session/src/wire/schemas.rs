//! JSON Schemas of the wire types.
//!
//! They are in `docs/schemas`. Keys may be added within a version, so the schemas allow others.

use super::{
    BlameDocument, CheckDocument, CloneDocument, LinkDocument, ListDocument, LogDocument,
    NoteDocument, ProofDocument, SearchDocument, SessionDocument, StatsDocument,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

/// The schema of every documented kind, by the name of the kind.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("blame", of::<BlameDocument>()),
        ("check", of::<CheckDocument>()),
        ("clone", of::<CloneDocument>()),
        ("clone-proof", of::<ProofDocument>()),
        ("link", of::<LinkDocument>()),
        ("link-note", of::<NoteDocument>()),
        ("log", of::<LogDocument>()),
        ("ls", of::<ListDocument>()),
        ("search", of::<SearchDocument>()),
        ("session", of::<SessionDocument>()),
        ("stats", of::<StatsDocument>()),
    ]
}

fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}
