//! What the tools answer: the content for the model and the structured result for the client.

use crate::calls::{Call, Work, code, edit_strings, todos};
use crate::json::Line;
use crate::pools::Pools;
use crate::source_file::SourceFile;

impl Call<'_> {
    /// True when the tool failed.
    pub(crate) fn failed(&self) -> bool {
        matches!(self.work, Work::Bash { failed: true, .. })
    }

    /// The `content` of the result.
    pub(crate) fn write_content(&self, line: &mut Line, sources: &[SourceFile], pools: &Pools) {
        match &self.work {
            Work::Bash { output, failed: true, .. } => {
                line.pieces("content", &[b"Exit code 1\\n", output]);
            }
            Work::Bash { output, .. } | Work::Grep { output, .. } | Work::Fetch { output } => {
                line.text("content", output);
            }
            Work::Read { source, from, count } => line.filled("content", |out| {
                numbered(out, pools, &sources[*source].lines, *from, *count);
            }),
            Work::Image { data } => line.list("content", |line| {
                line.element(|line| {
                    line.text("type", "image");
                    line.object("source", |line| {
                        line.text("type", "base64");
                        line.text("data", data);
                        line.text("media_type", "image/png");
                    });
                });
            }),
            Work::Edit { source, .. } => line.pieces(
                "content",
                &[
                    b"The file ",
                    sources[*source].path.as_bytes(),
                    b" has been updated successfully.",
                ],
            ),
            Work::Write { source, .. } => line.pieces(
                "content",
                &[b"File created successfully at: ", sources[*source].path.as_bytes()],
            ),
            Work::Glob => line.filled("content", |out| {
                for source in sources {
                    out.extend_from_slice(source.path.as_bytes());
                    out.extend_from_slice(b"\\n");
                }
            }),
            Work::Todos { .. } => line.text("content", "Todos have been modified successfully."),
            Work::Query { output } => text_list(line, "content", output),
            Work::Agent { .. } => line.text("content", ""),
        }
    }

    /// `toolUseResult`; `size_limit` says from how many characters on the original is left out.
    pub(crate) fn write_structured(
        &self,
        line: &mut Line,
        sources: &[SourceFile],
        pools: &Pools,
        size_limit: Option<usize>,
    ) {
        match &self.work {
            Work::Bash { output, failed: true, .. } => {
                line.pieces("toolUseResult", &[b"Error: Exit code 1\\n", output]);
            }
            Work::Query { output } => text_list(line, "toolUseResult", output),
            work => line.object("toolUseResult", |line| {
                structured(work, self.name, line, sources, pools, size_limit);
            }),
        }
    }
}

fn structured(
    work: &Work<'_>,
    name: &str,
    line: &mut Line,
    sources: &[SourceFile],
    pools: &Pools,
    size_limit: Option<usize>,
) {
    match work {
        Work::Bash { output, .. } => {
            line.text("stdout", output);
            line.text("stderr", "");
            line.flag("interrupted", false);
            line.flag("isImage", false);
        }
        Work::Read { source, from, count } => {
            line.text("type", "text");
            line.object("file", |line| {
                let file = &sources[*source];
                line.text("filePath", &file.path);
                line.filled("content", |out| {
                    code(out, pools, file.lines.get(*from..from + count).unwrap_or_default());
                });
                line.number("numLines", *count as u64);
                line.number("startLine", *from as u64 + 1);
                line.number("totalLines", file.lines.len() as u64);
            });
        }
        Work::Image { data } => {
            line.text("type", "image");
            line.object("file", |line| {
                line.text("base64", data);
                line.text("type", "image/png");
                line.number("originalSize", data.len() as u64 * 3 / 4);
            });
        }
        Work::Edit { source, before, from, removed, added } => {
            line.text("filePath", &sources[*source].path);
            let old = &before[*from..from + removed];
            if name == "MultiEdit" {
                line.list("edits", |line| {
                    line.element(|line| edit_strings(line, pools, old, added));
                });
                line.filled("originalFileContents", |out| code(out, pools, before));
            } else {
                line.filled("oldString", |out| code(out, pools, old));
                line.filled("newString", |out| code(out, pools, added));
                let size: usize =
                    before.iter().map(|&number| pools.code.piece(number as usize).len()).sum();
                if size_limit.is_some_and(|limit| size >= limit) {
                    line.null("originalFile");
                } else {
                    line.filled("originalFile", |out| code(out, pools, before));
                }
            }
            hunk(line, pools, before, *from, *removed, added);
            line.flag("userModified", false);
            line.flag("replaceAll", false);
        }
        Work::Write { source, before, lines } => {
            line.text("type", if before.is_some() { "update" } else { "create" });
            line.text("filePath", &sources[*source].path);
            line.filled("content", |out| code(out, pools, lines));
            match before {
                Some(before) => {
                    hunk(line, pools, before, 0, before.len(), lines);
                    line.filled("originalFile", |out| code(out, pools, before));
                }
                None => {
                    line.raw("structuredPatch", "[]");
                    line.null("originalFile");
                }
            }
        }
        Work::Grep { output, .. } => {
            line.text("mode", "content");
            line.number("numFiles", 0);
            line.raw("filenames", "[]");
            line.text("content", output);
        }
        Work::Glob => {
            line.list("filenames", |line| {
                sources.iter().for_each(|source| line.item(&source.path));
            });
            line.number("numFiles", sources.len() as u64);
            line.flag("truncated", false);
        }
        Work::Todos { texts } => {
            line.raw("oldTodos", "[]");
            todos(line, "newTodos", texts);
        }
        Work::Fetch { output } => {
            line.number("bytes", output.len() as u64);
            line.number("code", 200);
            line.text("codeText", "OK");
            line.text("result", output);
            line.text("url", "https://example.com/page");
        }
        Work::Query { .. } | Work::Agent { .. } => {}
    }
}

fn numbered(out: &mut Vec<u8>, pools: &Pools, lines: &[u32], from: usize, count: usize) {
    for (number, &piece) in lines.iter().enumerate().skip(from).take(count) {
        out.extend_from_slice(format!("{:>6}→", number + 1).as_bytes());
        out.extend_from_slice(pools.code.piece(piece as usize));
    }
}

/// One hunk with three lines of context; leading tabs become two spaces, as the client shows them.
fn hunk(
    line: &mut Line,
    pools: &Pools,
    before: &[u32],
    from: usize,
    removed: usize,
    added: &[u32],
) {
    let start = from.saturating_sub(3);
    let end = (from + removed + 3).min(before.len());
    let context = end - start - removed;
    line.list("structuredPatch", |line| {
        line.element(|line| {
            line.number("oldStart", start as u64 + 1);
            line.number("oldLines", (end - start) as u64);
            line.number("newStart", start as u64 + 1);
            line.number("newLines", (context + added.len()) as u64);
            line.list("lines", |line| {
                let mut show = |mark: &str, numbers: &[u32]| {
                    for &number in numbers {
                        let piece = pools.code.piece(number as usize);
                        let piece = &piece[..piece.len() - 2];
                        let tabs = piece.chunks(2).take_while(|pair| *pair == b"\\t").count();
                        let mut shown = mark.as_bytes().to_vec();
                        shown.extend(std::iter::repeat_n(b' ', tabs * 2));
                        shown.extend_from_slice(&piece[tabs * 2..]);
                        line.item(shown);
                    }
                };
                show(" ", &before[start..from]);
                show("-", &before[from..from + removed]);
                show("+", added);
                show(" ", &before[from + removed..end]);
            });
        });
    });
}

fn text_list(line: &mut Line, key: &str, text: &[u8]) {
    line.list(key, |line| {
        line.element(|line| {
            line.text("type", "text");
            line.text("text", text);
        });
    });
}
