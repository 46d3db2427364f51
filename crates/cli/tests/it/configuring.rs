//! `backstory config`, and settings in force

use crate::support::Machine;
use backstory_testkit::write_file;

fn own(machine: &Machine, text: &str) {
    write_file(&machine.home().join(".config/backstory/config.toml"), text.as_bytes());
}

fn setting(machine: &Machine, key: &str) -> (serde_json::Value, serde_json::Value) {
    let rows = machine.json(&["config", "--json"]);
    let row = rows.iter().find(|row| row["key"] == key).unwrap();
    (row["value"].clone(), row["from"].clone())
}

#[test]
fn config_says_what_is_in_force_and_from_where() {
    let machine = Machine::with_sample();
    assert_eq!(setting(&machine, "timezone"), ("UTC".into(), serde_json::Value::Null));
    own(&machine, "timezone = 'Asia/Tokyo'\nquiet = true\npager = 'more'\nprices = '~/p.toml'\n");
    let (zone, from) = setting(&machine, "timezone");
    assert_eq!(zone, "Asia/Tokyo");
    assert!(from.as_str().unwrap().ends_with(".config/backstory/config.toml"), "{from}");
    assert!(setting(&machine, "prices").0.as_str().unwrap().ends_with("/p.toml"));
    let table = machine.out(&["config"]);
    assert!(table.contains("~/.config/backstory/config.toml") && table.contains("default"));
    own(&machine, "timezone = 'Asia/Tokyo'");
    let days = |machine: &Machine| machine.json(&["stats", "--json"])[0]["timezone"].clone();
    assert_eq!(days(&machine), "Asia/Tokyo");
    let elsewhere =
        machine.command(&["config", "--json"]).env("XDG_CONFIG_HOME", "/nowhere").output();
    assert!(!String::from_utf8(elsewhere.unwrap().stdout).unwrap().contains("Tokyo"));
}

#[test]
fn roots_of_the_settings_take_the_place_of_the_agents_own() {
    let machine = Machine::with_sample();
    std::fs::rename(machine.home().join(".claude"), machine.home().join("moved")).unwrap();
    assert_eq!(machine.run(&["ls"]).code, Some(1));
    own(&machine, "roots = ['~/moved']");
    assert_eq!(machine.json(&["ls", "--json"]).len(), 6);
    std::fs::create_dir(machine.home().join("empty")).unwrap();
    assert_eq!(machine.run(&["ls", "--root", "empty"]).code, Some(1), "an option goes before");
}

#[test]
fn a_wrong_key_is_an_error_and_a_projects_file_is_not_trusted() {
    let machine = Machine::with_sample();
    own(&machine, "timezon = 'UTC'");
    let ran = machine.run(&["ls"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(
        ran.stderr,
        "error: `[HOME]/.config/backstory/config.toml`: unknown key `timezon`\n\
         hint: write `timezone`\n"
    );
    own(&machine, "");
    let project = machine.home().join("app");
    write_file(
        &project.join(".backstory.toml"),
        b"roots = ['.']\npager = 'touch ran'\ntimezone = 'Asia/Tokyo'\nspeed = 1\n[redact]\nclasses = ['secrets']\n",
    );
    let run = |arguments: &[&str]| {
        let output = machine.command(arguments).current_dir(&project).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, out, told) = run(&["ls", "--json"]);
    assert_eq!((code, out.lines().count()), (Some(0), 6), "its roots are not used: {told}");
    assert!(told.contains("unknown key `speed`"), "{told}");
    let (_, out, told) = run(&["config"]);
    assert!(out.contains("Asia/Tokyo") && !out.contains("touch"), "{out}");
    for key in ["pager", "redact", "roots"] {
        assert!(told.contains(&format!("`{key}` not used: the file is not trusted")), "{told}");
    }
    assert!(told.contains("hint: read the file, then: backstory trust "), "{told}");
    assert_eq!(run(&["trust"]).0, Some(0));
    assert!(run(&["config"]).1.contains("touch ran"));
}
