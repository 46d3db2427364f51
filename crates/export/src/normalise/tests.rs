use super::*;
use proptest::prelude::*;
use serde_json::json;

fn action(calls: Value) -> Action {
    Action::parse(&calls.to_string())
}

fn call(name: &str, input: Value) -> Value {
    json!([{"type": "tool_use", "name": name, "input": input}])
}

fn normal(calls: Value) -> Normal {
    Normal::of(&action(calls), Some("/w/app"))
}

fn bash(command: &str) -> Normal {
    normal(call("Bash", json!({"command": command})))
}

#[test]
fn actions_are_read_as_states_have_them() {
    let text =
        r#"[{"text":"I look","type":"text"},{"input":{"a":1},"name":"Read","type":"tool_use"}]"#;
    let expected = vec![Called { name: "Read".to_owned(), input: json!({"a": 1}) }];
    assert_eq!(Action::parse(text), Action::Calls(expected));
    for words in
        ["Done.", "[1, 2]", "[", r#"[{"type":"text","text":"x"}]"#, r#"[{"type":7}]"#, "[]"]
    {
        assert_eq!(Action::parse(words), Action::Words(words.to_owned()));
    }
}

#[test]
fn names_of_other_agents_and_inputs_that_describe_are_the_same() {
    let ours =
        normal(call("Bash", json!({"command": "ls src", "description": "List", "timeout": 9})));
    for other in [
        call("execute_bash", json!({"command": "ls  src ", "security_risk": "LOW"})),
        call("shell", json!({"command": ["bash", "-lc", "ls src"], "workdir": "/w/app"})),
        call("run_shell_command", json!({"command": "cd /w/app && ls src 2>&1 | head -50"})),
    ] {
        assert!(ours.same(&normal(other.clone()), Level::Exact), "{other}");
    }
    let task =
        normal(call("Task", json!({"prompt": "p", "description": "d", "subagent_type": "x"})));
    let agent = normal(call("Agent", json!({"prompt": "p", "subagent_type": "x"})));
    assert!(task.same(&agent, Level::Exact));
}

#[test]
fn paths_are_seen_from_the_folder() {
    let read = |path: &str| normal(call("Read", json!({"file_path": path})));
    for path in ["/w/app/src/a.rs", "src/a.rs", "./src/./a.rs", "/w/app/../app/src/a.rs"] {
        assert!(read("src/a.rs").same(&read(path), Level::Exact), "{path}");
    }
    for path in ["/w/app2/src/a.rs", "../src/a.rs", "/src/a.rs", "src/b.rs", "~/src/a.rs"] {
        assert!(!read("src/a.rs").same(&read(path), Level::NameTarget), "{path}");
    }
    let unknown = |path: &str| seen_from(path, None);
    assert_eq!(
        [unknown("../x"), unknown("./x"), unknown("."), unknown("../..")],
        ["../x", "x", ".", "../.."]
    );
}

#[test]
fn commands_keep_what_they_do() {
    assert!(bash("cargo  test 2>&1 | tail -n 20").same(&bash("cargo test"), Level::Exact));
    assert!(!bash("echo 'a  b'").same(&bash("echo 'a b'"), Level::Exact));
    assert!(!bash("a || head -5").same(&bash("a"), Level::Exact));
    assert!(!bash("a\nb").same(&bash("a b"), Level::Exact));
    assert!(!bash("cat f | head -5 x").same(&bash("cat f"), Level::Exact));
    assert!(!bash("cat <<E\na  b\nE").same(&bash("cat <<E\na b\nE"), Level::Exact));
    assert!(!bash("cd /w && ls").same(&bash("ls"), Level::Exact));
}

#[test]
fn levels_go_from_strict_to_loose() {
    let one = bash("cargo test --lib");
    let two = bash("cargo test --lib --quiet");
    let three = bash("cargo build");
    let read = normal(call("Read", json!({"file_path": "a"})));
    assert!(!one.same(&two, Level::Exact) && one.same(&two, Level::NameTarget));
    assert!(!one.same(&three, Level::NameTarget) && one.same(&three, Level::Name));
    assert!(!one.same(&read, Level::Name));
    assert!(one.same(&two, Level::Fuzzy(0.8)) && !one.same(&three, Level::Fuzzy(0.8)));
    let said = Normal::of(&Action::parse("All  done.\n"), None);
    let again = Normal::of(&Action::parse("All done."), None);
    let other = Normal::of(&Action::parse("I could not do it."), None);
    assert!(said.same(&again, Level::Exact));
    assert!(!said.same(&other, Level::FUZZY) && said.same(&other, Level::Name));
    assert!(!said.same(&read, Level::Name));
}

#[test]
fn targets_are_what_a_call_is_used_on() {
    let target = |command: &str| bash(command).key(Level::NameTarget);
    assert_eq!(target("cd /tmp && RUST_LOG=x sudo /usr/bin/git -C x commit -m y"), "Bash git x");
    assert_eq!(target("timeout 60 python3 -u /w/app/run.py | tee log"), "Bash python3 run.py");
    assert_eq!(target("ls"), "Bash ls");
    let grep = normal(call("Grep", json!({"pattern": "fn main", "path": "/w/app", "-n": true})));
    assert_eq!(grep.key(Level::Exact), r#"Grep {"pattern": "fn main"}"#);
    let other = normal(call("mcp__x__y", json!({"query": "q", "k": 1})));
    assert_eq!(other.key(Level::NameTarget), "mcp__x__y q");
}

#[test]
fn normalise_separates_reads_from_changes() {
    for command in [
        "ls -la",
        "cat a | grep b | sort",
        "git log --oneline -5",
        "cd x && git diff",
        "find . -name '*.rs'",
        "rg 'a > b' src 2>/dev/null",
        "ls 2>&1",
        "sed -n 1,5p x",
        "grep x y > /dev/null",
        "ls &> /dev/null",
        "echo failed >&2",
        "ls # > x",
    ] {
        assert!(is_read_only(command), "{command}");
    }
    for command in [
        "rm x",
        "echo a > b",
        "echo a >b",
        "cat a >> b",
        "git commit",
        "git",
        "sed -i s/a/b/ x",
        "ls; rm x",
        "find . -delete",
        "cargo test",
        "",
        "ls | xargs rm",
        "$(rm x)",
        "echo \"$(rm x)\"",
        "cat <<E\na\nE\nrm x",
    ] {
        assert!(!is_read_only(command), "{command}");
    }
}

fn text() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        " ",
        "  ",
        "\n",
        "\\",
        "'",
        "\"",
        "|",
        "&&",
        "cd ",
        "/w/app",
        "head -5",
        "2>&1",
        "a",
        "b/c",
        "..",
        "./",
        "<<E",
        ";",
        "e\u{301}",
        "\u{e9}",
        "~",
        "{",
        "}",
        "tail -n 3",
        ">",
        "x=1",
        "\t",
    ]);
    prop::collection::vec(parts, 0..12).prop_map(|parts| parts.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_call() -> impl Strategy<Value = (String, Vec<(String, Value)>)> {
    let name = prop::sample::select(vec![
        "Bash",
        "shell",
        "Read",
        "view",
        "Edit",
        "Write",
        "Glob",
        "Grep",
        "LS",
        "Task",
        "TodoWrite",
        "mcp__a__b",
        "",
    ]);
    let field = prop::sample::select(vec![
        "command",
        "cmd",
        "file_path",
        "path",
        "pattern",
        "query",
        "description",
        "timeout",
        "replace_all",
        "old_string",
        "old_str",
        "workdir",
        "paths",
        "k",
    ]);
    let fields = prop::collection::vec((field.prop_map(str::to_owned), value()), 0..6);
    (name.prop_map(str::to_owned), fields)
}

fn written(calls: &[(String, Vec<(String, Value)>)]) -> Action {
    let called = |(name, fields): &(String, Vec<(String, Value)>)| Called {
        name: name.clone(),
        input: Value::Object(fields.iter().cloned().collect()),
    };
    Action::Calls(calls.iter().map(called).collect())
}

proptest! {
    #[test]
    fn normalising_twice_changes_nothing(
        calls in prop::collection::vec(any_call(), 1..4), folder in prop::option::of(Just("/w/app")),
    ) {
        let once = Normal::of(&written(&calls), folder);
        let twice = Normal::of(once.action(), folder);
        prop_assert_eq!(once.action(), twice.action());
        for level in Level::ALL {
            prop_assert_eq!(once.key(level), twice.key(level));
            prop_assert!(once.same(&twice, level));
        }
    }

    #[test]
    fn words_are_normal_once(words in text(), more in "\\PC{0,20}") {
        let once = Normal::of(&Action::Words(format!("{words}{more}")), None);
        prop_assert_eq!(&once, &Normal::of(once.action(), None));
    }

    #[test]
    fn the_order_of_calls_and_keys_does_not_matter(calls in prop::collection::vec(any_call(), 1..4)) {
        let unique = |fields: &[(String, Value)]| {
            let mut kept: Vec<(String, Value)> = Vec::new();
            for (name, value) in fields {
                if !kept.iter().any(|(known, _)| known == name) {
                    kept.push((name.clone(), value.clone()));
                }
            }
            kept
        };
        let calls: Vec<_> = calls.iter().map(|(name, fields)| (name.clone(), unique(fields))).collect();
        let mut turned = calls.clone();
        turned.reverse();
        turned.iter_mut().for_each(|(_, fields)| fields.reverse());
        // The text too, where the order of keys is that of the writer.
        let text = |calls: &[(String, Vec<(String, Value)>)]| {
            let blocks = calls.iter().map(|(name, fields)| {
                let fields = fields.iter().map(|(key, value)| format!("{}: {value}", json!(key)));
                let fields = fields.collect::<Vec<_>>().join(" , ");
                format!(r#"{{"name": {}, "type":"tool_use", "input": {{{fields}}} }}"#, json!(name))
            });
            format!("[{}]", blocks.collect::<Vec<_>>().join(","))
        };
        let one = Normal::of(&Action::parse(&text(&calls)), Some("/w/app"));
        let two = Normal::of(&Action::parse(&text(&turned)), Some("/w/app"));
        for level in Level::ALL {
            prop_assert_eq!(one.key(level), two.key(level));
            prop_assert!(one.same(&two, level));
        }
        prop_assert!(one.same(&Normal::of(&written(&calls), Some("/w/app")), Level::Exact));
    }

    #[test]
    fn normalise_levels_go_from_strict_to_loose_for_any_call(
        one in any_call(), two in any_call(), threshold in 0.0..1.0f64,
    ) {
        let (one, two) = (Normal::of(&written(&[one]), None), Normal::of(&written(&[two]), None));
        let same = |level| one.same(&two, level);
        prop_assert!(!same(Level::Exact) || same(Level::NameTarget) && same(Level::Fuzzy(threshold)));
        prop_assert!(!same(Level::NameTarget) || same(Level::Name));
        prop_assert!(!same(Level::Fuzzy(threshold)) || same(Level::Name));
        prop_assert_eq!(one.similarity(&two), two.similarity(&one));
    }
}
