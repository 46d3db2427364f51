//! Tool calls and their results.

use super::View;
use super::entries::count_table;
use super::figures::count;
use backstory_text::document::{Document, Line};

const RULES: &str = "\
calls   = { block.id: block          for each tool_use block of each assistant record }
results = { block.tool_use_id: block for each tool_result block of each user record }
pair by id, never by position or by parentUuid:
  a result may come before its call, or after later blocks of the same message
  the parent of each parallel result is its own call, so a walk along parentUuid misses some
  an id used by two messages: pair in file order
a call without a result was cut off, interrupted or left on another branch: it has no outcome
the structured result (toolUseResult) is on the record of the result, not in the block";

pub(super) fn write(view: &View<'_>, document: &mut Document) {
    document.code("text", RULES);
    let all = &view.all;
    document.bullets(
        [
            format!(
                "{} calls, {} results; {} calls have exactly one result.",
                count(all.get("pairing.calls")),
                count(all.get("pairing.results")),
                count(all.get("pairing.one-to-one")),
            ),
            format!(
                "{} results have no call; {} calls have several results; {} ids are used by more than one call.",
                count(all.get("pairing.orphan-result")),
                count(all.get("pairing.several-results")),
                count(all.get("pairing.id-used-again")),
            ),
            format!("{} results come before their call.", count(all.get("pairing.result-before-call"))),
        ]
        .iter()
        .map(|text| Line::marked(text))
        .collect(),
    );
    document.heading(3, "Calls without a result, by cause");
    document.table(count_table(view, "cause", "pairing.orphan-call"), "None.");
    document.heading(3, "How many in one entry");
    document.table(count_table(view, "calls per entry", "pairing.calls-per-entry"), "No calls.");
    document
        .table(count_table(view, "results per entry", "pairing.results-per-entry"), "No results.");
    document.heading(3, "Parent of a result");
    document.paragraph("Whether `parentUuid` of a result is the record of its call:");
    document.table(count_table(view, "parent", "pairing.result-parent"), "No pairs.");
    document.heading(3, "Outcomes and tools");
    document.table(count_table(view, "outcome", "pairing.outcome"), "No results.");
    document.table(count_table(view, "tool", "pairing.calls-of"), "No calls.");
}
