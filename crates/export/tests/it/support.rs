//! Exports that several tests make.

use backstory_export::{
    Arguments, Document, Format, Options, Per, Repositories, Secrets, SftFormat, SftOptions,
    StateOptions, export,
};
use backstory_model::Session;
use backstory_redact::Raw;
use backstory_session::stats::Prices;
use serde_json::Value;

/// Rows of every trainer, by session and by step.
pub(crate) fn rows_of_trainers<'o>(
    states: StateOptions<'o>,
) -> impl Iterator<Item = SftOptions<'o>> {
    let formats = [
        SftFormat::Trl,
        SftFormat::LlamaFactory,
        SftFormat::Axolotl,
        SftFormat::OpenAi,
        SftFormat::Verl,
        SftFormat::SkyRl,
    ];
    formats.into_iter().flat_map(move |format| {
        [Per::Session, Per::Step].map(|per| SftOptions {
            format,
            per,
            arguments: Arguments::Object,
            states,
        })
    })
}

/// The text of an export, and what else is known of it.
pub(crate) fn make(
    session: &Session,
    format: Format<'_>,
    secrets: Secrets<'_>,
) -> (String, Document) {
    let prices = Prices::bundled().unwrap();
    let options = Options {
        format,
        generation: 0,
        max_observation: None,
        repositories: Repositories::Leave,
        prices: &prices,
    };
    let mut document = export(session, &options, secrets).unwrap();
    let mut out = Vec::new();
    document.copy_to(&mut out).unwrap();
    (String::from_utf8(out).unwrap(), document)
}

/// An export that holds everything, as text and as a value.
pub(crate) fn raw(session: &Session, format: Format<'_>) -> (String, Value) {
    let (text, _) = make(session, format, Secrets::Kept(Raw::requested_by_user()));
    let value = serde_json::from_str(&text).unwrap();
    (text, value)
}
