"""The truth of a forged session, put together from the script and from the API's notes.

Sources are only what was scripted, what the API served and received, and what the client printed on standard
output (its session id). The session files are the thing under test and are not opened here.
"""

SCHEMA = "backstory.forge-truth/1"
NOTIFICATION = "<task-notification>"


def build(version, name, project, play, script, processes):
    """Everything a checker needs, as plain JSON."""
    replies = [{**reply, "blocks": [server_side(block) for block in reply["blocks"]]} for reply in script.replies]
    prompts = deliveries(play, script, processes)
    return {
        "schema": SCHEMA,
        "version": version,
        "scenario": name,
        "about": play["about"],
        "project": str(project),
        "sessions": sessions_of(play, processes),
        "prompts": prompts,
        "turns": turns_of(play, prompts, script),
        "replies": replies,
        "refusals": script.refusals,
        "calls": calls_of(script),
        "agents": agents_of(play, script, processes),
        "compactions": compactions_of(play, script),
        "side": script.side,
        "expect": play["expect"],
    }


def server_side(block):
    """A block without the scenario's annotations."""
    return {
        key: value
        for key, value in block.items()
        if key in ("type", "text", "thinking", "signature", "id", "name", "input")
    }


def compactions_of(play, script):
    """Every compaction that the client asked for; `recorded` is false where the version leaves no trace of it."""
    scripted = play["expect"].get("compaction", {})
    return [
        {
            "run": note["run"],
            "session": note["session"],
            "trigger": scripted.get("trigger"),
            "recorded": scripted.get("recorded", True),
        }
        for note in script.side
        if note["purpose"] == "compaction"
    ]


def sessions_of(play, processes):
    """One entry per session id, with the session its history came from, if any."""
    sessions = {}
    for number, (run, process) in enumerate(zip(play["runs"], processes)):
        known = sessions.setdefault(
            process["session"], {"id": process["session"], "runs": [], "from": None, "by": "new"}
        )
        known["runs"].append(number)
        if process["resumes"] and process["resumes"] != process["session"] and len(known["runs"]) == 1:
            known["from"] = process["resumes"]
            known["by"] = "fork" if run["resume"] == "fork" else "resume-copy"
    return list(sessions.values())


def deliveries(play, script, processes):
    """Every prompt with how it reached the model: `turn`, `mid-turn`, or `local` when no request has it."""
    prompts = []
    for number, (run, process) in enumerate(zip(play["runs"], processes)):
        requests = [r for r in script.requests if r["run"] == number and r["agent"] == "main"]
        for prompt in run["prompts"]:
            words = prompt.get("wire", prompt["text"])
            carriers = [r for r in requests if any(words in text for text in r["prompt_texts"])]
            request = carriers[0] if carriers else None
            prompts.append(
                {
                    "run": number,
                    "session": process["session"],
                    "kind": prompt.get("kind", "human"),
                    "text": prompt["text"],
                    "also": prompt.get("also", []),
                    "picture": "picture" in prompt,
                    "recorded": prompt["recorded"],
                    "during_reply": prompt.get("during_reply"),
                    "delivery": delivery(request, script),
                    "request": request["number"] if request else None,
                }
            )
    return prompts


def delivery(request, script):
    if request is None:
        return "local"
    before = [r for r in script.replies if r["agent"] == "main" and r["index"] == request["index"] - 1]
    same_run = [r for r in before if r["run"] == request["run"]]
    return (
        "mid-turn"
        if same_run and same_run[0]["stop_reason"] == "tool_use" and same_run[0]["end"] == "served"
        else "turn"
    )


def turns_of(play, prompts, script):
    """The main conversation's turns in order, each with the messages that answered it."""
    starts = []
    for position, prompt in enumerate(prompts):
        if prompt["delivery"] != "mid-turn" and prompt["recorded"]:
            starts.append((start_key(prompt, position, prompts), {**shown(prompt), "replies": [], "interjections": []}))
    starts += notifications(script)
    starts.sort(key=lambda start: start[0])
    turns = [turn for _, turn in starts]
    for prompt in prompts:
        if prompt["delivery"] == "mid-turn" and prompt["recorded"]:
            owner(starts, prompt["request"])["interjections"].append(prompt["text"])
    for reply in script.replies:
        if reply["agent"] == "main":
            owner(starts, reply["request"])["replies"].append(reply["message_id"])
    for turn in turns:
        turn["outcome"] = outcome(turn, script)
        turn["abandoned"] = abandoned(turn, play, script)
    return turns


def abandoned(turn, play, script):
    """Whether a later process went back to a message before this turn."""
    indices = [r["index"] for r in script.replies if r["message_id"] in turn["replies"]]
    later = enumerate(play["runs"])
    back = [run["rewind_to"] for number, run in later if number > turn["run"] and "rewind_to" in run]
    return bool(indices) and any(min(indices) > index for index in back)


def outcome(turn, script):
    """How a turn ended; None for commands that the client answered itself, and where clients differ."""
    if not turn["replies"]:
        refused = any(r["run"] == turn["run"] and r["agent"] == "main" for r in script.refusals)
        return "api-error" if refused else None
    [last] = [r for r in script.replies if r["message_id"] == turn["replies"][-1]]
    if last["end"] == "broken":
        return None
    return "completed" if last["end"] != "aborted" and last["stop_reason"] != "tool_use" else "interrupted"


def shown(prompt):
    """What a turn tells of its prompt; `local` when the client answered it without the model."""
    local = prompt["delivery"] == "local"
    return {**{key: prompt[key] for key in ("session", "run", "kind", "text", "also", "picture")}, "local": local}


def start_key(prompt, position, prompts):
    """Sorts a turn's start among requests; a local prompt stands right before the next one that reached the API."""
    if prompt["request"] is not None:
        return (prompt["request"], 1, position)
    later = [p["request"] for p in prompts[position:] if p["request"] is not None]
    return (later[0] if later else float("inf"), 0, position)


def notifications(script):
    """Turns that the client started itself, to report that a background subagent has ended."""
    found, known = [], set()
    main = [r for r in script.requests if r["agent"] == "main"]
    for request in main:
        texts = {text for text in request["prompt_texts"] if NOTIFICATION in text}
        if texts - known and delivery(request, script) == "turn":
            turn = {
                "session": request["session"],
                "run": request["run"],
                "kind": "task-notification",
                "text": None,
                "local": False,
            }
            found.append(((request["number"], 1, 0), {**turn, "replies": [], "interjections": []}))
        known |= texts
    return found


def owner(starts, request):
    """The turn to which a request belongs: the last one that started at or before it."""
    return [turn for key, turn in starts if key[0] <= request][-1]


def calls_of(script):
    """Every tool call that was served, with its scripted outcome and what the client reported back."""
    calls = []
    for reply in script.replies:
        for block in reply["blocks"]:
            if block["type"] == "tool_use":
                calls.append(
                    {
                        "id": block["id"],
                        "name": block["name"],
                        "input": block["input"],
                        "owner": reply["agent"],
                        "message_id": reply["message_id"],
                        "expect": block["expect"],
                        "expect_text": block.get("expect_text"),
                        "agent": block.get("agent"),
                        "background": block.get("background", False),
                        "reported": script.results.get(block["id"]),
                    }
                )
    return calls


def agents_of(play, script, processes):
    """Every subagent that ran: its prompt, the call that started it and the messages it was served."""
    agents = []
    for name, agent in play["agents"].items():
        replies = [r for r in script.replies if r["agent"] == name]
        starts = [
            b["id"] for r in script.replies for b in r["blocks"] if b["type"] == "tool_use" and b.get("agent") == name
        ]
        parents = [r["agent"] for r in script.replies for b in r["blocks"] if b.get("agent") == name]
        if replies:
            agents.append(
                {
                    "name": name,
                    "prompt": agent["prompt"],
                    "call": starts[0] if starts else None,
                    "parent": parents[0] if parents else None,
                    "session": processes[replies[0]["run"]]["session"],
                    "replies": [r["message_id"] for r in replies],
                }
            )
    return agents


def unfulfilled(play, script, found):
    """What the scenario scripted and the client did not do: then there is nothing to test against."""
    problems = [f"{count} replies of {name} were not asked for" for name, count in script.unused().items()]
    extra = [r for r in script.requests if not r["scripted"]]
    if extra:
        problems.append(f"{len(extra)} requests more than scripted (first by {extra[0]['agent']})")
    for call in found["calls"]:
        reported = call["reported"]
        if reported is None:
            problems.append(f"no result of {call['name']} {call['id']} was reported to the API")
        elif reported["is_error"] != (call["expect"] != "ok"):
            problems.append(
                f"{call['name']} {call['id']}: expected {call['expect']}, but reported {reported['text'][:120]!r}"
            )
        elif call["expect_text"] and call["expect_text"] not in reported["text"]:
            problems.append(
                f"{call['name']} {call['id']}: {call['expect_text']!r} is not in {reported['text'][:120]!r}"
            )
    wanted = 1 if "compaction" in play["expect"] else 0
    if len(found["compactions"]) != wanted:
        problems.append(f"{wanted} compactions scripted, {len(found['compactions'])} asked for")
    for prompt in found["prompts"]:
        if prompt["kind"] == "human" and prompt["delivery"] == "local":
            problems.append(f"the prompt {prompt['text'][:60]!r} never reached the API")
    return problems
