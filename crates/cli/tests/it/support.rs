//! A home folder of its own for each test, and the program run in it.

use backstory_testkit::{Home, document};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

pub(crate) struct Machine {
    home: Home,
}

pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Machine {
    /// Without any sessions.
    pub(crate) fn empty() -> Machine {
        Machine { home: Home::empty() }
    }

    /// With the bundled sample as its sessions.
    pub(crate) fn with_sample() -> Machine {
        Machine { home: Home::with_sample() }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backstory"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.home())
            .env("TZ", "UTC")
            .current_dir(self.home());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("output is UTF-8");
            text.replace(&*self.home().to_string_lossy(), "[HOME]")
        };
        Ran { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Standard output of a command that must succeed.
    pub(crate) fn out(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout
    }

    /// One JSON value per line.
    pub(crate) fn json(&self, arguments: &[&str]) -> Vec<serde_json::Value> {
        self.out(arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Whether a document explains a key of an object that is under `parent`, or at the top: in a
/// column of fields, in a line that speaks of the parent as well (at the top, of `schema`), or in
/// the section that the parent's row names.
fn explains(document: &str, key: &str, parent: Option<&str>) -> bool {
    let (key, above) = (format!("`{key}`"), format!("`{}`", parent.unwrap_or("schema")));
    let cells = |line: &str| -> Vec<String> {
        let row = line.strip_prefix('|').unwrap_or_default();
        row.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let row = document.lines().find(|line| parent.is_some() && cells(line)[0].contains(&above));
    let shape = row.and_then(|row| cells(row).get(1).cloned()).unwrap_or_default();
    let (mut section, mut fields) = (String::new(), vec![0]);
    for line in document.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut section);
        }
        let cells = cells(line);
        if !line.starts_with('|') {
            fields = vec![0];
        } else {
            let heads = ["fields", "columns", "keys"];
            fields.extend(cells.iter().position(|cell| heads.contains(&cell.as_str())));
        }
        let in_fields =
            fields.iter().any(|at| cells.get(*at).is_some_and(|cell| cell.contains(&key)));
        let beside = line.contains(&key) && line.contains(&above);
        let shaped = line.contains(&key) && !shape.is_empty() && section == shape;
        if in_fields || beside || shaped {
            return true;
        }
    }
    false
}

/// Every key of the values, at any depth, is explained in the document; the number of keys. Keys
/// that are the user's words (`own`) need not be.
pub(crate) fn assert_documented(
    name: &str,
    values: Vec<serde_json::Value>,
    own: impl Fn(&str) -> bool,
) -> usize {
    let text = document(&format!("docs/{name}"));
    let mut open: Vec<(serde_json::Value, Option<String>)> =
        values.into_iter().map(|value| (value, None)).collect();
    let (mut seen, mut missing) = (0, BTreeSet::new());
    while let Some((value, parent)) = open.pop() {
        match value {
            serde_json::Value::Object(fields) => {
                for (key, value) in fields {
                    seen += 1;
                    if own(&key) {
                        open.push((value, parent.clone()));
                        continue;
                    }
                    if !explains(&text, &key, parent.as_deref()) {
                        missing
                            .insert(format!("{key} in {}", parent.as_deref().unwrap_or("the top")));
                    }
                    open.push((value, Some(key)));
                }
            }
            serde_json::Value::Array(items) => {
                open.extend(items.into_iter().map(|item| (item, parent.clone())));
            }
            _ => {}
        }
    }
    assert!(missing.is_empty(), "{name} does not explain {missing:?}");
    seen
}

/// Each value has the shape that `docs/schemas` describes for its kind, and no other key.
pub(crate) fn assert_valid(kind: &str, values: &[serde_json::Value]) {
    let text = document(&format!("docs/schemas/{kind}.json"));
    let mut schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    forbid_other_keys(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(!values.is_empty(), "{kind}: nothing to check");
    for value in values {
        let wrong: Vec<String> = validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{kind}: {wrong:#?}");
    }
}

fn forbid_other_keys(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::Object(fields) => {
            if fields.get("properties").is_some_and(serde_json::Value::is_object)
                && fields.get("type").is_some_and(|kind| kind == "object")
            {
                fields.entry("additionalProperties").or_insert(false.into());
            }
            fields.values_mut().for_each(forbid_other_keys);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(forbid_other_keys),
        _ => {}
    }
}
