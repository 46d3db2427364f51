//! Documents that are the same in Markdown and as a page.
//!
//! A document is plain data: headings, paragraphs, tables, code. Renderers escape every text, so
//! nothing in it can become markup.

mod html;
mod markdown;

pub use html::html;
pub use markdown::markdown;

/// A piece of running text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Span {
    /// Words, escaped where the form needs it.
    Text(String),
    /// Text that is shown exactly as it is.
    Code(String),
    /// Words that stand out.
    Strong(String),
}

/// Running text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line(pub Vec<Span>);

impl From<&str> for Line {
    fn from(text: &str) -> Line {
        Line(vec![Span::Text(text.to_owned())])
    }
}

impl From<String> for Line {
    fn from(text: String) -> Line {
        Line(vec![Span::Text(text)])
    }
}

impl Line {
    /// Text in which `` `…` `` is code and `**…**` is strong. For text of the program itself, not
    /// for text from data.
    pub fn marked(text: &str) -> Line {
        let mut spans = Vec::new();
        let mut strong = false;
        for (at, part) in text.split('`').enumerate() {
            if at % 2 == 1 {
                spans.push(Span::Code(part.to_owned()));
                continue;
            }
            for (at, part) in part.split("**").enumerate() {
                strong ^= at > 0;
                match part.to_owned() {
                    part if part.is_empty() => {}
                    part if strong => spans.push(Span::Strong(part)),
                    part => spans.push(Span::Text(part)),
                }
            }
        }
        Line(spans)
    }

    /// Code only.
    pub fn code(text: impl Into<String>) -> Line {
        Line(vec![Span::Code(text.into())])
    }

    /// The text without its marks.
    pub fn plain(&self) -> String {
        let text = |span: &Span| match span {
            Span::Text(text) | Span::Code(text) | Span::Strong(text) => text.clone(),
        };
        self.0.iter().map(text).collect()
    }
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// The heading of the column.
    pub title: &'static str,
    /// Whether its cells are aligned to the right.
    pub number: bool,
}

impl Column {
    /// A column of words, aligned to the left.
    pub const fn text(title: &'static str) -> Column {
        Column { title, number: false }
    }

    /// A column of figures, aligned to the right.
    pub const fn number(title: &'static str) -> Column {
        Column { title, number: true }
    }
}

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// From left to right.
    pub columns: Vec<Column>,
    /// One cell for each column.
    pub rows: Vec<Vec<Line>>,
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Level 2 and deeper; the title is level 1.
    Heading(u8, String),
    /// A run of text between blank lines.
    Paragraph(Line),
    /// A list without order.
    Bullets(Vec<Line>),
    /// A table with a heading row.
    Table(Table),
    /// Text in a fence.
    Code {
        /// Names the highlighter; empty for none.
        language: &'static str,
        /// Shown line by line, as it is.
        text: String,
    },
    /// Shown on request.
    Folded(String, Vec<Block>),
}

/// A whole document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// The heading of the whole document.
    pub title: String,
    /// From top to bottom.
    pub blocks: Vec<Block>,
}

impl Document {
    /// Adds a heading; the table of contents has those of level 2.
    pub fn heading(&mut self, level: u8, text: impl Into<String>) {
        self.blocks.push(Block::Heading(level, text.into()));
    }

    /// Adds a paragraph of marked text; see [`Line::marked`].
    pub fn paragraph(&mut self, text: &str) {
        self.blocks.push(Block::Paragraph(Line::marked(text)));
    }

    /// Adds a list; nothing if it has no lines.
    pub fn bullets(&mut self, lines: Vec<Line>) {
        if !lines.is_empty() {
            self.blocks.push(Block::Bullets(lines));
        }
    }

    /// A table, or a sentence when it has no rows.
    pub fn table(&mut self, table: Table, when_empty: &str) {
        if table.rows.is_empty() {
            self.paragraph(when_empty);
        } else {
            self.blocks.push(Block::Table(table));
        }
    }

    /// Adds text in a fence.
    pub fn code(&mut self, language: &'static str, text: impl Into<String>) {
        self.blocks.push(Block::Code { language, text: text.into() });
    }

    /// Headings of level 2 with their anchors.
    fn contents(&self) -> Vec<(String, &str)> {
        let headings = self.blocks.iter().filter_map(|block| match block {
            Block::Heading(2, text) => Some(text.as_str()),
            _ => None,
        });
        headings.map(|text| (anchor(text), text)).collect()
    }
}

/// The name under which a heading can be linked, as the usual Markdown renderers make it.
fn anchor(heading: &str) -> String {
    let keep = heading.chars().filter_map(|character| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        character if character.is_alphanumeric() => Some(character),
        _ => None,
    });
    keep.collect::<String>().to_lowercase()
}
