//! The frame of a page: nothing is loaded, nothing runs.

use backstory_text::escape;
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");

/// Even if something slipped through as markup, the browser would neither run nor load it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

pub(super) fn begin(title: &str, out: &mut impl Write) -> io::Result<()> {
    let title = escape::html(title);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"generator\" content=\"backstory {}\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#content\">Skip to the content</a>\n",
        env!("CARGO_PKG_VERSION")
    )
}

pub(super) fn end(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "<footer>Written by backstory.</footer>\n</body>\n</html>")
}
