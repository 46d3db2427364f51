//! Documents as one page: no script, nothing loaded from elsewhere, light and dark, printable.

use super::{Block, Document, Line, Span, Table, anchor};
use crate::escape::html as text;
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

/// The whole page.
pub fn html(document: &Document) -> String {
    let title = text(&document.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header><h1>{title}</h1></header>\n"
    );
    let contents = document.contents();
    if contents.len() > 3 {
        out.push_str("<nav aria-label=\"Contents\"><ul>\n");
        for (anchor, heading) in contents {
            let _ = writeln!(out, "<li><a href=\"#{}\">{}</a></li>", text(&anchor), text(heading));
        }
        out.push_str("</ul></nav>\n");
    }
    out.push_str("<main>\n");
    blocks(&document.blocks, &mut out);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn blocks(blocks: &[Block], out: &mut String) {
    for block in blocks {
        match block {
            Block::Heading(level, heading) => {
                let level = (*level).clamp(2, 6);
                let id = anchor(heading);
                let _ =
                    writeln!(out, "<h{level} id=\"{}\">{}</h{level}>", text(&id), text(heading));
            }
            Block::Paragraph(line) => {
                let _ = writeln!(out, "<p>{}</p>", inline(line));
            }
            Block::Bullets(lines) => {
                out.push_str("<ul>\n");
                for line in lines {
                    let _ = writeln!(out, "<li>{}</li>", inline(line));
                }
                out.push_str("</ul>\n");
            }
            Block::Table(found) => table(found, out),
            Block::Code { text: code, .. } => {
                let _ = writeln!(out, "<pre tabindex=\"0\"><code>{}</code></pre>", text(code));
            }
            Block::Folded(summary, inner) => {
                let _ = writeln!(out, "<details><summary>{}</summary>", text(summary));
                self::blocks(inner, out);
                out.push_str("</details>\n");
            }
        }
    }
}

fn inline(line: &Line) -> String {
    let mut out = String::new();
    for span in &line.0 {
        let _ = match span {
            Span::Text(plain) => write!(out, "{}", text(plain)),
            Span::Code(code) => write!(out, "<code>{}</code>", text(code)),
            Span::Strong(strong) => write!(out, "<strong>{}</strong>", text(strong)),
        };
    }
    out
}

fn table(table: &Table, out: &mut String) {
    out.push_str("<div class=\"table\" tabindex=\"0\"><table>\n<thead><tr>");
    for column in &table.columns {
        let class = if column.number { " class=\"number\"" } else { "" };
        let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", text(column.title));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            let number = table.columns.get(at).is_some_and(|column| column.number);
            let class = if number { " class=\"number\"" } else { "" };
            let _ = write!(out, "<td{class}>{}</td>", inline(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}
