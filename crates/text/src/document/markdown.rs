//! Documents as Markdown (GitHub's tables).

use super::{Block, Document, Line, Span, Table};
use crate::escape::{markdown_code, markdown_fence, markdown_inline, markdown_line, terminal_line};
use backstory_format::slice::Part;
use std::fmt::Write;

/// The whole document.
pub fn markdown(document: &Document) -> String {
    let mut out = format!("# {}\n", markdown_inline(&document.title));
    let contents = document.contents();
    if contents.len() > 3 {
        out.push('\n');
        for (anchor, text) in contents {
            let _ = writeln!(out, "- [{}](#{anchor})", markdown_inline(text));
        }
    }
    blocks(&document.blocks, &mut out);
    out
}

fn blocks(blocks: &[Block], out: &mut String) {
    for block in blocks {
        out.push('\n');
        match block {
            Block::Heading(level, text) => {
                let marks = "#".repeat(usize::from(*level).clamp(2, 6));
                let _ = writeln!(out, "{marks} {}", markdown_inline(text));
            }
            Block::Paragraph(text) => {
                line(text, Start::Line, out);
                out.push('\n');
            }
            Block::Bullets(lines) => {
                for text in lines {
                    out.push_str("- ");
                    line(text, Start::Line, out);
                    out.push('\n');
                }
            }
            Block::Table(found) => table(found, out),
            Block::Code { language, text } => code(language, text, out),
            Block::Folded(summary, inner) => {
                let _ = writeln!(out, "*{}*", markdown_inline(summary));
                self::blocks(inner, out);
            }
        }
    }
}

/// Where running text begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Line,
    Cell,
}

fn line(line: &Line, start: Start, out: &mut String) {
    for (at, span) in line.0.iter().enumerate() {
        match span {
            Span::Text(text) if at == 0 && start == Start::Line => {
                out.push_str(&markdown_line(text));
                out.push_str(if text.ends_with(' ') { " " } else { "" });
            }
            Span::Text(text) => out.push_str(&markdown_inline(text)),
            Span::Code(text) => out.push_str(&markdown_code(text)),
            // Marks count only next to a letter, so spaces stay outside.
            Span::Strong(text) => {
                let inner = text.trim();
                let before = text.len() - text.trim_start().len();
                let after = text.len() - text.trim_end().len();
                out.push_str(text.part(..before));
                let _ = write!(out, "**{}**", markdown_inline(inner));
                out.push_str(text.part(text.len() - after..));
            }
        }
    }
}

fn table(table: &Table, out: &mut String) {
    out.push('|');
    for column in &table.columns {
        let _ = write!(out, " {} |", markdown_inline(column.title));
    }
    out.push_str("\n|");
    for column in &table.columns {
        out.push_str(if column.number { "---:|" } else { "---|" });
    }
    out.push('\n');
    for row in &table.rows {
        out.push('|');
        for cell in row {
            out.push(' ');
            line(cell, Start::Cell, out);
            out.push_str(" |");
        }
        out.push('\n');
    }
}

fn code(language: &str, text: &str, out: &mut String) {
    let fence = markdown_fence(text);
    let _ = writeln!(out, "{fence}{language}");
    for line in text.lines() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        out.push_str(line.part(..indent));
        out.push_str(&terminal_line(line.part(indent..)));
        out.push('\n');
    }
    let _ = writeln!(out, "{fence}");
}
