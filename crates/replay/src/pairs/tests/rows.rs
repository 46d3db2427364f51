//! Shapes of rows, and what keeps rows out.

use super::*;

fn agreed(student: u8, teachers: u8) -> Asked {
    Asked { student, votes: vec![Some(Some(teachers)); 3], gated: false }
}

#[test]
fn every_format_has_its_shape() {
    let folder = tempfile::tempdir().unwrap();
    let asked = [agreed(2, 1), agreed(3, 0), agreed(0, 1), agreed(1, 1), agreed(0, 0)];
    let (journal, states) = written(folder.path(), &asked, 3);
    let of = |format| rows(&journal, &states, &options(format));
    let (trl, figures) = of(PairFormat::Trl);
    assert_eq!((figures.pairs, figures.sft_rows, figures.kto_rows), (3, 2, 8));
    let name = |message: &Value| message["tool_calls"][0]["function"]["name"].clone();
    assert_eq!(trl[0]["prompt"].as_array().unwrap().last().unwrap()["role"], "user");
    assert_eq!(
        (name(&trl[0]["chosen"][0]), name(&trl[0]["rejected"][0])),
        ("Bash".into(), "Read".into())
    );
    assert_eq!(trl[0]["chosen"][0]["content"], "Let me see.");
    assert!(trl[0]["chosen"][0]["tool_calls"][0]["function"]["arguments"].is_object());
    assert_eq!(trl[1]["chosen"][0], json!({"role": "assistant", "content": action(0, 1)}));
    let (native, _) = of(PairFormat::Native);
    assert_eq!(native[0]["state_messages"], trl[0]["prompt"]);
    let (openai, _) = of(PairFormat::OpenAi);
    assert_eq!(openai[0].as_object().unwrap().len(), 3);
    let arguments = &openai[0]["preferred_output"][0]["tool_calls"][0]["function"]["arguments"];
    assert!(serde_json::from_str::<Value>(arguments.as_str().unwrap()).unwrap().is_object());
    let (llama, figures) = of(PairFormat::LlamaFactory);
    assert_eq!(llama[0]["chosen"]["from"], "function_call");
    assert_eq!(llama[1]["chosen"]["from"], "gpt");
    assert!(llama.iter().all(|row| row["conversations"].as_array().unwrap().len() % 2 == 1));
    assert_eq!(figures.left_out_words, 4, "of four messages with calls");
    let (axolotl, _) = of(PairFormat::Axolotl);
    let content = axolotl[0]["chosen"]["content"].as_str().unwrap();
    assert!(content.starts_with("Let me see.\n<tool_call>\n{\"arguments\""), "{content}");
    let (kto, _) = of(PairFormat::Kto);
    let labels: Vec<bool> = kto.iter().map(|row| row["label"].as_bool().unwrap()).collect();
    assert_eq!(labels, [true, false, true, false, true, false, true, true]);
    let (sft, _) = of(PairFormat::Sft);
    assert_eq!(sft.len(), 2);
    assert_eq!(sft[1]["completion"][0]["content"], action(0, 4));
}

#[test]
fn filters_keep_rows_out_and_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = String::new();
    let secret = "ghp_".to_owned() + &"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[..36];
    let read =
        |input: Value| json!([{"type": "tool_use", "name": "Read", "input": input}]).to_string();
    let fine = read(json!({"file_path": "a"}));
    let student =
        json!([{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]).to_string();
    let answers = [
        fine.clone(),
        read(json!({"path": 7})),
        json!([{"type": "tool_use", "name": "Nothing", "input": {}}]).to_string(),
        "No.".to_owned(),
        read(json!({"file_path": secret})),
        fine.clone(),
        fine.clone(),
        fine.clone(),
        "x".repeat(5000),
    ];
    let mut states = Vec::new();
    let long: String = (0..200).map(|at| format!("word{at} ")).collect();
    let mut messages = vec![
        json!({"role": "user", "content": long}),
        json!({"role": "assistant", "content": "Yes."}),
        json!({"role": "user", "content": long.replace("word77 ", "other ")}),
        json!({"role": "user", "content": format!("The token is {secret}")}),
    ];
    messages.extend((0..3).map(|_| json!({"role": "assistant", "content": "Yes."})));
    // Fine, arguments, tool, short, secret in the answer, the same again, nearly, secret before, long, the model last.
    let ranges = [(0, 1), (0, 1), (0, 1), (0, 1), (0, 1), (0, 1), (0, 3), (0, 4), (0, 1), (0, 2)];
    for (at, (from, upto)) in ranges.into_iter().enumerate() {
        states.push(json!({"state_id": format!("s:{at}"), "student_action": student,
            "kept": [], "from": from, "upto": upto, "meta": {"tools": ["Read"]}}));
        for teacher in 0..2 {
            let answer = answers.get(at).cloned().unwrap_or_else(|| fine.clone());
            journal.push_str(&call(at, teacher, Some(answer)).line().unwrap());
        }
    }
    let tools = json!([{"type": "function", "function": {"name": "Read", "parameters": {"type": "object",
        "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]}}}]);
    let line = json!({"session_id": "s", "system": [], "tools": tools, "messages": messages, "states": states});
    let (one, two) = (folder.path().join("j.jsonl"), folder.path().join("s.jsonl"));
    std::fs::write(&one, journal).unwrap();
    std::fs::write(&two, format!("{line}\nnot a line\n{line}\n")).unwrap();
    let options = PairOptions {
        dedup: Dedup::Near,
        bounds: Bounds { min_action: 5, max_action: Some(4000), max_prompt: None },
        ..options(PairFormat::Trl)
    };
    let (rows, figures) = rows(&one, &two, &options);
    let counts: BTreeMap<&str, u64> =
        figures.reasons.iter().map(|(reason, count)| (reason.name(), *count)).collect();
    let expected = [
        ("duplicate", 1),
        ("invalid_arguments", 1),
        ("invalid_tool", 1),
        ("near_duplicate", 1),
        ("no_prompt", 1),
        ("secret", 2),
        ("too_long", 1),
        ("too_short", 1),
    ];
    assert_eq!(counts, expected.into_iter().collect());
    assert_eq!((rows.len(), figures.states), (1, 10));
    assert_eq!((figures.unreadable_lines, figures.repeated_states), (1, 10));
    assert_eq!(rows[0]["tools"][0]["function"]["name"], "Read");
    let text = rows[0].to_string();
    assert!(!text.contains("ghp_"));
}

#[test]
fn answers_that_were_cut_off_do_not_count_and_failures_take_nothing_back() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, states) = written(folder.path(), &[agreed(2, 1), agreed(2, 1)], 3);
    let mut text = std::fs::read_to_string(&journal).unwrap();
    text.push('\n');
    for teacher in 0..2 {
        let Entry::Call(mut cut) = call(0, teacher, Some(action(1, 0))) else { panic!() };
        cut.finish_reason = Some("length".to_owned());
        text = text.replacen(
            "\"kind\":\"call\",\"state_id\":\"s:0\"",
            "\"kind\":\"gone\",\"state_id\":\"s:0\"",
            1,
        );
        text.push_str(&Entry::Call(cut).line().unwrap());
    }
    text.push_str(&call(1, 0, None).line().unwrap());
    std::fs::write(&journal, text).unwrap();
    let (_, figures) = rows(&journal, &states, &options(PairFormat::Native));
    assert_eq!(figures.agreement.teachers.iter().map(|teacher| teacher.cut).sum::<u64>(), 2);
    assert_eq!((figures.pairs, figures.reason(Reason::TooFewAnswers)), (1, 1));
    assert_eq!(figures.journal.superseded, 1);
    let missing =
        PairOptions { priority: vec!["nobody".to_owned()], ..options(PairFormat::Native) };
    assert!(matches!(
        make(&journal, &states, &missing, &mut Vec::new()),
        Err(PairsError::NoTeacher(_))
    ));
    let none = make(&states, &states, &options(PairFormat::Native), &mut Vec::new());
    assert!(matches!(none, Err(PairsError::NoJournal { .. })));
}
