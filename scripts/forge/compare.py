"""Compares the truth of a forged session with the JSON that the tool printed about it.

Sessions and where their history came from, turns with kind, words and outcome, messages in order, subagents with
the call that started them, compactions, titles, sums, and that no problem is reported. What a file cannot tell is
not asked for: the truth marks prompts and compactions that this client version never writes down.
"""

from compare_messages import Report, check_result, check_step

NOT_TASKS = {"warmup", "compaction", "prompt-suggestion", "side-question", "client-run"}
"""Kinds of subagents that the client starts for itself."""

FAULTS_OF_CLIENTS = {("2.1.70", "duplicate-uuid")}
"""Problems that a release makes itself: 2.1.70 at times writes the record before a compaction twice."""


def lineage(truth, session):
    """The client processes whose records a session's file holds, copied history first."""
    before = []
    if session["from"]:
        [origin] = [other for other in truth["sessions"] if other["id"] == session["from"]]
        before = [run for run in lineage(truth, origin) if run < session["runs"][0]]
    return before + session["runs"]


def differences(truth, shown):
    """All differences; `shown` maps each session id of the truth to the JSON that the tool printed."""
    report = Report()
    for session in truth["sessions"]:
        check_session(report, truth, session, shown[session["id"]])
    return report.lines


def check_session(report, truth, session, shown):
    where = session["id"][:8]
    runs = lineage(truth, session)
    present = message_ids(shown)
    replies = {
        r["message_id"]: r
        for r in truth["replies"]
        if r["run"] in runs and (r["end"] != "broken" or r["message_id"] in present)
    }
    main = [r for r in replies.values() if r["agent"] == "main"]
    report.expect(where, "schema", "backstory.session/1", shown.get("schema"))
    report.expect(where, "id", session["id"], shown.get("id"))
    report.expect(where, "kind", "session", shown.get("kind"))
    report.expect(where, "versions", [truth["version"]], shown.get("versions"))
    report.expect(where, "models", distinct(r["model"] for r in main), shown.get("models"))
    report.expect(where, "project", truth["project"], (shown.get("project") or {}).get("path"))
    check_problems(report, where, truth, shown)
    check_origin(report, where, session, shown)
    check_turns(report, where, truth, runs, replies, shown)
    check_compactions(report, where, truth, runs, shown)
    if session is truth["sessions"][-1]:
        check_title(report, where, truth, shown)
        check_places(report, where, truth, shown)
    calls = [c for c in truth["calls"] if c["message_id"] in replies]
    check_calls(report, where, truth, calls, shown)
    check_sum(report, where, truth, main, shown)
    check_subagents(report, where, truth, session, replies, shown)


def message_ids(shown):
    """Every message that is shown. A reply whose connection broke may be among them or not: clients differ."""
    turns = shown.get("turns", []) + [t for branch in shown.get("abandoned", []) for t in branch.get("turns", [])]
    return {step.get("message_id") for turn in turns for step in turn["steps"]}


def distinct(values):
    return list(dict.fromkeys(values))


def check_problems(report, where, truth, shown):
    """A file that a client wrote by itself has no fault but its own; mere notices, such as copies, are allowed."""
    for problem in shown.get("problems", []):
        own = (truth["version"], problem.get("id")) in FAULTS_OF_CLIENTS
        if problem.get("severity") != "info" and not own:
            report.fault(where, f"problem {problem.get('id')} at line {problem.get('line')}: {problem.get('detail')}")


def check_origin(report, where, session, shown):
    """A file that opens with another session's records says whose."""
    if session["from"] is None:
        report.expect(where, "continues", [], shown.get("continues"))
        return
    named = list(shown.get("continues") or [])
    if shown.get("forked_from"):
        named.append(shown["forked_from"].get("session"))
    if session["from"] not in named:
        report.fault(where, f"history of {session['from'][:8]} ({session['by']}) not recognised; named: {named}")


def check_turns(report, where, truth, runs, replies, shown):
    turns = [
        {**turn, "replies": [m for m in turn["replies"] if m in replies]}
        for turn in truth["turns"]
        if turn["run"] in runs
    ]
    wanted = [turn for turn in turns if not turn["abandoned"] and not turn["local"]]
    left = [turn for branch in shown.get("abandoned", []) for turn in branch.get("turns", [])]
    report.expect(
        where,
        "abandoned messages",
        [m for turn in turns if turn["abandoned"] for m in turn["replies"]],
        [step.get("message_id") for turn in left for step in model_steps(turn)],
    )
    got = [turn for turn in merged_turns(shown.get("turns", [])) if turn["kind"] != "command" or model_steps(turn)]
    report.expect(where, "turns", [label(t["kind"], t["text"]) for t in wanted], [shown_label(t) for t in got])
    ids = [m for turn in wanted for m in turn["replies"]]
    report.expect(where, "messages", ids, [s.get("message_id") for turn in got for s in model_steps(turn)])
    for number, (turn, seen) in enumerate(zip(wanted, got), 1):
        check_turn(report, f"{where} turn {number}", turn, seen)
    for turn in turns:
        if turn["local"] and not any(mentions(shown, name) for name in [turn["text"], *turn["also"]]):
            report.fault(where, f"the command {turn['text']} is nowhere to be seen")
    for step in (step for turn in got for step in model_steps(turn)):
        if step.get("message_id") in replies:
            check_step(report, where, truth, replies[step["message_id"]], step)


def check_turn(report, place, turn, seen):
    said = [interjection.get("text") for interjection in seen.get("interjections", [])]
    report.expect(place, "messages", turn["replies"], [step.get("message_id") for step in model_steps(seen)])
    report.expect(place, "interjections", turn["interjections"], said)
    if turn["outcome"]:
        report.expect(place, "outcome", turn["outcome"], seen.get("outcome"))
    if turn.get("picture"):
        blocks = (seen.get("prompt") or {}).get("blocks", [])
        report.expect(place, "picture in the prompt", True, any(b.get("kind") == "image" for b in blocks))
    if turn["kind"] == "command":
        check_command(report, place, turn, seen)


def mentions(shown, command):
    """Whether a command that the client answered itself is told of: as a turn or as an event of one."""
    turns = shown.get("turns", []) + [t for branch in shown.get("abandoned", []) for t in branch.get("turns", [])]
    return any(
        ((turn.get("prompt") or {}).get("command") or {}).get("name", "").lstrip("/") == command.lstrip("/")
        or any(f"<command-name>{command}<" in (event.get("text") or "") for event in turn.get("events", []))
        for turn in turns
    )


def merged_turns(turns):
    """Turns with those that a compaction opens joined to the one before: the same request goes on."""
    merged = []
    for turn in turns:
        if turn["kind"] in ("compact", "continuation") and merged:
            merged[-1]["steps"] = merged[-1]["steps"] + turn["steps"]
            merged[-1]["interjections"] = merged[-1].get("interjections", []) + turn.get("interjections", [])
            if turn["steps"]:
                merged[-1]["outcome"] = turn.get("outcome")
        elif turn["kind"] != "compact" or turn["steps"]:
            merged.append(dict(turn))
    return merged


def model_steps(turn):
    return [step for step in turn["steps"] if not step.get("synthetic")]


def label(kind, text):
    """What identifies a turn. A notification's words are the client's own; a command is compared by its parts."""
    return kind if kind in ("task-notification", "command") else f"{kind}: {text}"


def shown_label(turn):
    return label("human" if turn["kind"] == "queued" else turn["kind"], (turn.get("prompt") or {}).get("text"))


def check_command(report, place, turn, seen):
    name, _, arguments = turn["text"].lstrip("/").partition(" ")
    command = (seen.get("prompt") or {}).get("command") or {}
    got = (command.get("name") or "").lstrip("/")
    report.expect(place, "command", name, got)
    report.expect(place, "command arguments", arguments, command.get("args") or "")


def check_sum(report, where, truth, main, shown):
    """The session's sum is the sum of its messages, each counted once."""
    usage = shown.get("usage") or {}
    report.expect(where, "sum messages", len(main), usage.get("messages"))
    for field, key in (
        ("input", "input_tokens"),
        ("cache_read", "cache_read_input_tokens"),
        ("cache_write", "cache_creation_input_tokens"),
    ):
        report.expect(where, f"sum {field}", sum(r["usage"][key] for r in main), usage.get(field))
    if not usage.get("incomplete") and all(r["end"] != "broken" for r in main):
        report.expect(where, "sum output", sum(r["usage"]["output_tokens"] for r in main), usage.get("output"))


def call_blocks(shown):
    """Every call of a session or subagent by id, abandoned branches included."""
    turns = list(shown.get("turns", []))
    for branch in shown.get("abandoned", []):
        turns += branch.get("turns", [])
    blocks = [b for turn in turns for step in turn["steps"] for b in step.get("blocks", [])]
    return {block["id"]: block for block in blocks if block.get("kind") == "call"}


def check_calls(report, where, truth, calls, shown):
    main = [call for call in calls if call["owner"] == "main"]
    counts = shown.get("counts", {})
    left = {m for turn in truth["turns"] if turn["abandoned"] for m in turn["replies"]}
    report.expect(where, "counts.calls", sum(c["message_id"] not in left for c in main), counts.get("calls"))
    report.expect(where, "counts.orphan_results", 0, counts.get("orphan_results"))
    blocks = call_blocks(shown)
    for call in main:
        if call["id"] in blocks:
            check_result(report, where, call, blocks[call["id"]].get("result"))


def check_compactions(report, where, truth, runs, shown):
    wanted = [c for c in truth["compactions"] if c["run"] in runs and c["recorded"]]
    got = [c for c in shown.get("compactions", []) if c.get("kind") == "full"]
    report.expect(where, "compactions", len(wanted), len(got))
    for compaction, seen in zip(wanted, got):
        if seen.get("trigger") is not None:
            report.expect(where, "compaction trigger", compaction["trigger"], seen["trigger"])


def check_title(report, where, truth, shown):
    wanted = truth["expect"].get("title")
    if wanted:
        title = shown.get("title") or {}
        report.expect(where, "title", wanted, {"text": title.get("text"), "source": title.get("source")})


def check_places(report, where, truth, shown):
    """Directories and branches that the session is known to have been in."""
    for field, wanted in (("cwds", truth["expect"]["cwds"]), ("git_branches", truth["expect"]["branches"])):
        for place in wanted:
            if place not in shown.get(field, []):
                report.fault(where, f"{place} is not in {field}: {shown.get(field)}")


def all_subagents(shown):
    """Subagents at any depth, without those the client starts for itself."""
    found = []
    for agent in shown.get("subagents", []):
        if agent.get("kind") not in NOT_TASKS:
            found.append(agent)
        found += all_subagents(agent)
    return found


def check_subagents(report, where, truth, session, replies, shown):
    """Subagents stand in the session in which they ran; copied history leaves them behind."""
    wanted = [agent for agent in truth["agents"] if agent["session"] == session["id"]]
    got = all_subagents(shown)
    report.expect(where, "subagents", len(wanted), len(got))
    by_message = {step.get("message_id"): agent for agent in got for turn in agent["turns"] for step in turn["steps"]}
    started = dict(call_blocks(shown))
    for agent in got:
        started.update(call_blocks(agent))
    for agent in wanted:
        place = f"{where} agent {agent['name']}"
        seen = by_message.get(agent["replies"][0])
        if seen is None:
            report.fault(place, "not found")
            continue
        check_agent(report, place, truth, agent, seen, replies)
        report.expect(place, "subagent of the call", seen.get("id"), started.get(agent["call"], {}).get("subagent"))


def check_agent(report, place, truth, agent, seen, replies):
    report.expect(place, "kind", "task", seen.get("kind"))
    report.expect(place, "started by", agent["call"], (seen.get("parent") or {}).get("call"))
    steps = [step for turn in seen["turns"] for step in model_steps(turn)]
    report.expect(place, "messages", agent["replies"], [step.get("message_id") for step in steps])
    first = seen["turns"][0] if seen["turns"] else {"kind": None}
    report.expect(
        place, "first turn", f"task: {agent['prompt']}", f"{first['kind']}: {(first.get('prompt') or {}).get('text')}"
    )
    for step in steps:
        if step.get("message_id") in replies:
            check_step(report, place, truth, replies[step["message_id"]], step)
    blocks = call_blocks(seen)
    for call in truth["calls"]:
        if call["owner"] == agent["name"] and call["id"] in blocks:
            check_result(report, place, call, blocks[call["id"]].get("result"))
    check_problems(report, place, truth, seen)
