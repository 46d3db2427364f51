use super::*;
use crate::price::PriceTable;
use crate::states::clear;
use crate::teacher::parse_teachers;
use backstory_redact::{Config, Redactor};
use serde_json::{Value, json};

fn conversation() -> Cleared<Conversation> {
    let line = json!({
        "session_id": "s", "system": [{"role": "system", "content": "Be brief."}],
        "tools": [{"type": "function", "function": {"name": "Bash", "description": "runs",
            "parameters": {"properties": {"command": {"type": "string"}}}}}],
        "messages": [
            {"role": "user", "content": "begin"},
            {"role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": [
                {"id": "toolu_1", "type": "function", "function": {"name": "Bash", "arguments": {"command": "ls"}}},
                {"id": "toolu_2", "type": "function", "function": {"name": "mcp.look at", "arguments": {"n": 1}}}]},
            {"role": "tool", "tool_call_id": "toolu_1", "name": "Bash", "content": "a"},
            {"role": "tool", "tool_call_id": "toolu_2", "name": "mcp.look at", "content": "b"},
            {"role": "user", "content": "and on"},
            {"role": "assistant", "content": "done"}],
        "states": [
            {"state_id": "s:1", "student_action": "x", "kept": [], "from": 0, "upto": 1, "meta": null},
            {"state_id": "s:2", "student_action": "x", "kept": [], "from": 0, "upto": 5, "meta": null},
            {"state_id": "s:3", "student_action": "x", "kept": [0], "from": 5, "upto": 6, "meta": null}],
    });
    let conversation = Conversation::parse(&line.to_string()).unwrap();
    clear(conversation, &Redactor::new(&Config::default()).unwrap()).unwrap()
}

fn teacher(kind: &str, more: &str) -> Teacher {
    let text = format!(
        "[[teacher]]\nid='t'\nmodel='m'\nbase_url='http://localhost'\nkind='{kind}'\nmax_tokens=9\n{more}"
    );
    parse_teachers(&text, &PriceTable::none()).unwrap().remove(0)
}

fn body(kind: &str, at: usize, more: &str) -> Value {
    let (conversation, teacher) = (conversation(), teacher(kind, more));
    let wire = Wire::new(&conversation, teacher.api);
    let request = wire.request(&conversation.get().states, at, &teacher).unwrap();
    serde_json::from_str(&request.body).unwrap()
}

#[test]
fn requests_of_openai() {
    let sent = body("openai", 1, "temperature=0.5\nbody={top_p=0.9}");
    assert_eq!((&sent["model"], &sent["max_tokens"]), (&json!("m"), &json!(9)));
    assert_eq!((&sent["temperature"], &sent["top_p"]), (&json!(0.5), &json!(0.9)));
    let messages = sent["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 6);
    assert_eq!(messages[0], json!({"role": "system", "content": "Be brief."}));
    assert_eq!(
        messages[2],
        json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "Bash", "arguments": "{\"command\":\"ls\"}"}},
            {"id": "call_2", "type": "function", "function": {"name": "mcp_look_at", "arguments": "{\"n\":1}"}}]})
    );
    assert_eq!(messages[4], json!({"role": "tool", "tool_call_id": "call_2", "content": "b"}));
    let names: Vec<&Value> =
        sent["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["Bash", "mcp_look_at"]);
    assert_eq!(sent["tools"][0]["function"]["parameters"]["type"], "object");
    assert!(body("openai", 1, "tools=false").get("tools").is_none());
    // Nothing of what the student did, and nothing of other fields.
    assert!(!sent.to_string().contains("hm") && sent.get("states").is_none());
}

#[test]
fn requests_of_anthropic() {
    let sent = body("anthropic", 1, "");
    let messages = sent["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|one| one["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        sent["system"],
        json!([{"type": "text", "text": "Be brief.", "cache_control": mark}])
    );
    // Where the state before ended, and at the end.
    assert_eq!(messages[0]["content"][0]["cache_control"], mark);
    let last = messages[2]["content"].as_array().unwrap();
    assert_eq!(last[0], json!({"type": "tool_result", "tool_use_id": "call_1", "content": "a"}));
    assert_eq!(last[2], json!({"type": "text", "text": "and on", "cache_control": mark}));
    assert_eq!(sent.to_string().matches("cache_control").count(), 3);
    assert_eq!(messages[1]["content"][0]["input"], json!({"command": "ls"}));
    // A history that ends with the model.
    let sent = body("anthropic", 2, "");
    let messages = sent["messages"].as_array().unwrap();
    assert_eq!(messages[0]["content"][0]["text"], "begin");
    assert_eq!(messages.last().unwrap()["role"], "user");
}

#[test]
fn weights_are_those_of_what_is_sent() {
    let conversation = conversation();
    let states = &conversation.get().states;
    for api in [Api::OpenAi, Api::Anthropic] {
        let wire = Wire::new(&conversation, api);
        let first = wire.weight(&states[0], None, Tools::Offered);
        let second = wire.weight(&states[1], Some(&states[0]), Tools::Offered);
        assert_eq!((first.shared, second.shared), (0, first.bytes));
        let third = wire.weight(&states[2], Some(&states[1]), Tools::Offered);
        assert!(third.shared > 0 && third.shared < first.bytes, "only the front is the same");
    }
}
