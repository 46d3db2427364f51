//! `backstory stats`

use crate::support::{Machine, assert_documented};
use backstory_testkit::write_file;
use serde_json::Value;

#[test]
fn the_table() {
    insta::assert_snapshot!(Machine::with_sample().out(&["stats", "--by", "model"]), @r"
    model       messages  input  write 5m  write 1h  cache read  output      cost
    opus-4-6           7     28      8.5k         0        653k     ≥21  ≥$0.3805
    opus-5             8     32      8.8k         0        210k    2.4k   $0.2200
    sonnet-4-6         5     20      3.9k         0       95.0k    1.1k   $0.0592
    opus-5-5           5     20      3.6k         0        100k    1.0k   $0.0583
    sonnet-4-5         4     16      2.1k         0       52.1k     ≥12  ≥$0.0237
    sonnet-4           3     12      1.4k         0       31.5k      ≥9  ≥$0.0149
    haiku-4-5          5     20      2.2k         0       43.5k    ≥246  ≥$0.0083
    total             37    148     30.5k         0        1.2M   ≥4.8k  ≥$0.7650

    37 messages in 6 sessions; days in UTC
    list prices of 2026-11-16 (LiteLLM 1.108.4, model_prices_and_context_window.json; Anthropic models), US dollars
    ≥ a lower bound: 16 of 37 messages never got the final count of output tokens
    ");
}

#[test]
fn by_tool_and_by_subagent() {
    let machine = Machine::with_sample();
    let tools = &machine.json(&["stats", "--by", "tool", "--json"])[0];
    let row = |name: &str| {
        let rows = tools["rows"].as_array().unwrap();
        rows.iter().find(|row| row["key"] == name).unwrap_or_else(|| panic!("{name}")).clone()
    };
    assert_eq!((row("Edit")["calls"].as_u64(), row("Bash")["calls"].as_u64()), (Some(8), Some(7)));
    let agents = &machine.json(&["stats", "--by", "subagent", "--json"])[0];
    let types: Vec<&Value> =
        agents["rows"].as_array().unwrap().iter().map(|row| &row["agent_type"]).collect();
    assert_eq!(types, [&Value::Null, &Value::from("Explore"), &Value::from("general-purpose")]);
}

#[test]
fn days_begin_in_the_zone_named() {
    let machine = Machine::empty();
    let record = |time: &str, id: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","parentUuid":null,"sessionId":"s","cwd":"/p","timestamp":"{time}","version":"2.1.100","isSidechain":false,"message":{{"id":"{id}","role":"assistant","model":"claude-opus-5","content":[],"stop_reason":"end_turn","usage":{{"input_tokens":1000000,"output_tokens":0}}}}}}"#
        ) + "\n"
    };
    let text = record("2026-03-01T23:30:00.000Z", "a") + &record("2026-03-02T10:00:00.000Z", "b");
    let file = machine.home().join("s.jsonl");
    write_file(&file, text.as_bytes());
    let rows = |arguments: &[&str]| -> Vec<(String, u64)> {
        let arguments = [&["stats", "s.jsonl", "--json"], arguments].concat();
        let report = machine.json(&arguments).remove(0);
        let rows = report["rows"].as_array().unwrap().clone();
        rows.iter()
            .map(|row| (row["key"].as_str().unwrap().to_owned(), row["messages"].as_u64().unwrap()))
            .collect()
    };
    let pair = |day: &str, count| (day.to_owned(), count);
    assert_eq!(rows(&["--timezone", "UTC"]), [pair("2026-03-01", 1), pair("2026-03-02", 1)]);
    assert_eq!(rows(&["--timezone", "Europe/Berlin"]), [pair("2026-03-02", 2)]);
    assert_eq!(rows(&["--by", "week"]), [pair("2026-W09", 1), pair("2026-W10", 1)]);
    assert_eq!(rows(&["--since", "2026-03-02"]), [pair("2026-03-02", 1)]);
    assert_eq!(rows(&["--until", "2026-03-01"]), [pair("2026-03-01", 1)]);
    let berlin = ["--since", "2026-03-02", "--timezone", "Europe/Berlin"];
    assert_eq!(rows(&berlin), [pair("2026-03-02", 2)], "the bound is in the zone, too");
    let report = &machine.json(&["stats", "s.jsonl", "--json"])[0];
    assert_eq!(report["total"]["cost"]["usd"], 10.0);
}

#[test]
fn stats_reports_copies_unknown_models_and_missing_counts() {
    let machine = Machine::empty();
    let record = |id: &str, model: &str, usage: &str, stop: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","parentUuid":null,"sessionId":"s","cwd":"/p","timestamp":"2026-03-01T10:00:00.000Z","version":"2.1.100","isSidechain":false,"message":{{"id":"m-{id}","role":"assistant","model":"{model}","content":[],"stop_reason":{stop}{usage}}}}}"#
        ) + "\n"
    };
    let usage = r#","usage":{"input_tokens":10,"output_tokens":5}"#;
    let text = record("a", "claude-opus-5", usage, "\"end_turn\"")
        + &record("b", "claude-opus-5", usage, "null")
        + &record("c", "glm\u{1b}[31m-4.7", usage, "\"end_turn\"").replace('\u{1b}', "\\u001b")
        + &record("d", "claude-opus-5", "", "\"end_turn\"");
    write_file(&machine.home().join("one/s.jsonl"), text.as_bytes());
    write_file(&machine.home().join("two/t.jsonl"), text.as_bytes());
    let report = &machine.json(&["stats", "one", "two", "--json"])[0];
    let total = &report["total"];
    assert_eq!(report["repeated_messages"], 4);
    assert_eq!((&total["messages"], &total["incomplete_messages"]), (&4.into(), &1.into()));
    assert_eq!(total["messages_without_usage"], 1);
    assert_eq!(
        (&total["tokens"]["output"], &total["tokens"]["lower_bound"]),
        (&15.into(), &true.into())
    );
    assert_eq!(total["cost"]["unpriced_messages"], 1);
    assert_eq!(total["cost"]["usd"], 0.00035);
    let table = machine.out(&["stats", "one", "two", "--by", "model"]);
    assert!(table.contains("unknown") && table.contains("no price for glm"), "{table}");
    assert!(!table.contains('\u{1b}'), "{table}");
    let prices = "date = '2026-01-01'\nsource = 'me'\n[[model]]\nname = \"glm\\u001b[31m-4.7\"\ninput = 1\noutput = 2\ncache_read = 0\ncache_write_5m = 0\ncache_write_1h = 0\n";
    write_file(&machine.home().join("prices.toml"), prices.as_bytes());
    let own = &machine.json(&["stats", "one", "--prices", "prices.toml", "--json"])[0];
    assert_eq!(own["total"]["cost"]["usd"], 0.00002);
    assert_eq!(own["prices"]["source"], "me");
}

#[test]
fn stats_reports_subagents_without_files() {
    let machine = Machine::empty();
    let message = r#"{"id":"m-1","role":"assistant","model":"claude-opus-5","content":[],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":5}}"#;
    let rest = r#""parentUuid":null,"sessionId":"s","cwd":"/p","timestamp":"2026-03-01T10:00:00.000Z","version":"2.1.60","isSidechain":false"#;
    let own = format!(r#"{{"type":"assistant","uuid":"a","message":{message},{rest}}}"#);
    let copy = |id: &str| {
        let message = message.replace("m-1", id);
        format!(
            r#"{{"type":"progress","uuid":"{id}","data":{{"type":"agent_progress","agentId":"x","message":{{"type":"assistant","message":{message}}}}},{rest}}}"#
        )
    };
    let text = [own, copy("m-1"), copy("m-2"), copy("m-2")].join("\n") + "\n";
    write_file(&machine.home().join("s.jsonl"), text.as_bytes());
    let total = &machine.json(&["stats", "s.jsonl", "--json"])[0]["total"];
    assert_eq!((&total["messages"], &total["lost_messages"]), (&1.into(), &1.into()));
    assert_eq!(
        (&total["tokens"]["output"], &total["tokens"]["lower_bound"]),
        (&5.into(), &true.into())
    );
    let table = machine.out(&["stats", "s.jsonl"]);
    assert!(table.contains("1 message of subagents whose files are gone"), "{table}");
}

#[test]
fn wrong_use_gets_a_hint() {
    let machine = Machine::with_sample();
    write_file(&machine.home().join("bad.toml"), b"date = 1");
    for (arguments, wanted) in [
        (&["stats", "--prices", "bad.toml"][..], "error: prices `bad.toml`"),
        (&["stats", "--prices", "none.toml"][..], "error: prices `none.toml`"),
        (&["stats", "--timezone", "Mars/Base"][..], "error: --timezone `Mars/Base`"),
        (&["stats", "--since", "soon"][..], "error: --since `soon`"),
    ] {
        let ran = machine.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(wanted), "{}", ran.stderr);
    }
    assert_eq!(machine.run(&["stats", "--until", "2001-01-01"]).code, Some(1));
    assert_eq!(Machine::empty().run(&["stats"]).code, Some(1));
}

#[test]
fn every_key_is_documented() {
    let reports = Machine::with_sample().json(&["stats", "--json", "--by", "subagent"]);
    assert!(assert_documented("stats-json.md", reports, |_| false) > 20);
}

/// What a document says a session cost is what the books say.
#[test]
fn the_cost_shown_is_the_cost_counted() {
    let machine = Machine::with_sample();
    let mut compared = 0;
    for session in machine.json(&["ls", "--json"]) {
        let id = session["id"].as_str().unwrap();
        let report = &machine.json(&["stats", id, "--json"])[0];
        let page = machine.out(&["show", id, "--format", "md"]);
        let Some(line) = page.lines().find(|line| line.contains("Cost")) else {
            continue;
        };
        let shown = line.split('$').nth(1).unwrap().split(',').next().unwrap();
        let counted = report["total"]["cost"]["usd"].as_f64().unwrap();
        assert_eq!(shown, format!("{counted:.4}"), "{id}");
        let bound = report["total"]["cost"]["lower_bound"] == true;
        assert_eq!(line.contains("at least"), bound, "{id}");
        compared += 1;
    }
    assert!(compared > 3, "{compared}");
}

/// Two files with the same messages, `first` before `second` by name; `second` is the original.
fn fork_and_original(machine: &Machine) -> [&'static str; 2] {
    let ids = ["00000000-0000-4000-8000-00000000000f", "ffffffff-0000-4000-8000-000000000000"];
    for (id, fork) in ids.iter().zip([
        r#""forkedFrom":{"sessionId":"ffffffff-0000-4000-8000-000000000000","messageUuid":"a"},"#,
        "",
    ]) {
        let record = |uuid: &str, kind: &str, message: &str| {
            format!(
                r#"{{"type":"{kind}",{fork}"uuid":"{uuid}","parentUuid":null,"sessionId":"{id}","cwd":"/p","timestamp":"2026-03-01T10:00:00.000Z","version":"2.1.300","isSidechain":false,"message":{message}}}"#
            ) + "\n"
        };
        let text = record("u", "user", r#"{"role":"user","content":"Hello"}"#)
            + &record(
                "a",
                "assistant",
                r#"{"id":"m","role":"assistant","model":"claude-opus-5","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":5}}"#,
            );
        let path = format!(".claude/projects/-p/{id}.jsonl");
        write_file(&machine.home().join(path), text.as_bytes());
    }
    ids
}

#[test]
fn an_original_comes_before_its_fork() {
    let machine = Machine::empty();
    let [_, original] = fork_and_original(&machine);
    let report = &machine.json(&["stats", "--by", "session", "--json"])[0];
    assert_eq!(report["repeated_messages"], 1);
    assert_eq!(report["rows"][0]["key"], original);
    let latest = machine.json(&["show", "latest", "--format", "json"]).remove(0);
    assert_eq!(latest["id"], original);
    let overview = machine.out(&[]);
    let newest = overview.split("Newest sessions\n").nth(1).unwrap().trim_start();
    assert!(newest.starts_with("ffffffff"), "{overview}");
}

#[test]
fn ls_and_stats_show_uncounted_tokens_as_unknown() {
    let machine = Machine::empty();
    crate::agents::codex(&machine);
    let listed = &machine.json(&["ls", "--json"])[0];
    assert_eq!((&listed["agent"], &listed["tokens"]), (&Value::from("codex"), &Value::Null));
    let table = machine.out(&["ls"]);
    let tokens = table.lines().next().unwrap().find("tokens").unwrap();
    let row: Vec<char> = table.lines().nth(1).unwrap().chars().collect();
    assert_eq!(row[tokens..tokens + 6].iter().collect::<String>().trim(), "–", "{table}");
    let report = &machine.json(&["stats", "--by", "model", "--json"])[0];
    for figures in [&report["total"], &report["rows"][0]] {
        assert_eq!(figures["messages"], figures["messages_without_usage"]);
        assert_eq!(figures["cost"]["usd"], Value::Null);
        assert_eq!(figures["cost"]["lower_bound"], true);
    }
    let table = machine.out(&["stats", "--by", "model"]);
    let total: Vec<&str> =
        table.lines().find(|line| line.starts_with("total")).unwrap().split_whitespace().collect();
    assert_eq!(total, ["total", "2", "–", "–", "–", "–", "–", "unknown"], "{table}");
}

/// Lines of a table are never broken by the terminal: columns that tell least go first.
#[test]
fn tables_fit_narrow_terminals() {
    let machine = Machine::with_sample();
    let widest = |columns: &str, arguments: &[&str]| {
        let output = machine.command(arguments).env("COLUMNS", columns).output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap()
    };
    for by in ["day", "model", "session", "tool", "subagent", "project"] {
        for columns in [60, 80, 120] {
            let found = widest(&columns.to_string(), &["stats", "--by", by]);
            assert!(found <= columns, "{by}: {found} in {columns}");
        }
    }
    let output =
        machine.command(&["stats", "--by", "session"]).env("COLUMNS", "60").output().unwrap();
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @r"
    session               messages  cache read  output      cost
    59aba946  Calm the …         7        653k     ≥21  ≥$0.3805
    bf74c68e  Tides on …         8        210k    2.4k   $0.2200
    18502db4  Add a …            8        124k    1.3k   $0.0652
    5931ab08  Make …             5        100k    1.0k   $0.0583
    8ea9873d  Write a …          6       66.6k     ≥18  ≥$0.0261
    bddf24f2  Rename …           3       31.5k      ≥9  ≥$0.0149
    total                       37        1.2M   ≥4.8k  ≥$0.7650

    37 messages in 6 sessions; days in UTC
    list prices of 2026-11-16 (LiteLLM 1.108.4,
    model_prices_and_context_window.json; Anthropic models), US
    dollars
    ≥ a lower bound: 16 of 37 messages never got the final count
    of output tokens
    ");
}
