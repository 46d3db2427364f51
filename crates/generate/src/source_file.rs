//! Files that made-up sessions work on.

/// A file of the made-up project: indexes of code lines.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) lines: Vec<u32>,
}
