#!/usr/bin/env python3
"""Rows of `backstory export --to sft`, loaded by the trainers' own code.

usage: trainers.py --binary BACKSTORY PATH...

Every format, by session and by step, from JSONL and from Parquet. Every row must survive, with all its
calls, and inputs of calls must be objects once:

  trl           `datasets` loads both files to equal rows; TRL's `apply_chat_template` renders each row
                with the tool-aware templates that TRL ships
  llamafactory  its converter keeps each row; its function formatters read each call
  axolotl       its chat-template strategy takes each row and its tools
  openai        the documented format as JSON Schema
  verl          its dataset class reads the Parquet file; messages are rendered
  skyrl         its functions tokenize each row

The packages are installed without what they need: PyTorch and Ray are gigabytes that this code does not
call (stand_in.py). Functions of verl and SkyRL are taken out of their files, because importing those
starts Ray. The exit status is 1 when a row does not survive, 3 when the packages cannot be had on this
machine.
"""

from __future__ import annotations

import argparse
import collections
import json
import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterator

from environments import HERE, python_or_exit

FORMATS = ["trl", "llamafactory", "axolotl", "openai", "verl", "skyrl"]
# Templates that know tools, one for each family. Llama's refuses messages with several calls, that of
# gpt-oss shows only the first.
TEMPLATES = ["qwen2_5", "qwen3", "qwen3_5_nothink", "glm4moe", "gptoss", "lfm2_2_5", "gemma4_v5", "nemotron_3_nano",
             "llama3_1"]
ONE_CALL = {"llama3_1", "gptoss"}


class Rows:
    """One export: the lines as they are written, and the files."""

    def __init__(self, binary: str, paths: list[str], folder: Path, name: str, per: str, *more: str) -> None:
        self.name, self.per = name, per
        self.jsonl, self.parquet = folder / f"{name}-{per}.jsonl", folder / f"{name}-{per}.parquet"
        for out in (self.jsonl, self.parquet):
            words = ["export", *paths, "--to", "sft", "--format", name, "--rows-per", per, "--out", out,
                     "--subagents", "separate", *more]
            done = subprocess.run([binary, "--quiet", *map(str, words)], capture_output=True, text=True, check=False)
            if done.returncode not in (0, 2) or not out.exists():
                raise SystemExit(f"export: exit {done.returncode}: {done.stderr}")
        with self.jsonl.open() as lines:
            self.rows = [json.loads(line) for line in lines]

    def loaded(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        import datasets

        with tempfile.TemporaryDirectory() as cache:
            for kind, path in (("json", self.jsonl), ("parquet", self.parquet)):
                yield kind, list(datasets.load_dataset(kind, data_files=str(path), cache_dir=cache)["train"])


def messages(row: dict[str, Any]) -> list[dict[str, Any]]:
    return row["messages"] if "messages" in row else row["prompt"] + row["completion"]


def calls(row: dict[str, Any]) -> list[dict[str, Any]]:
    if "conversations" in row:
        turns = (turn for turn in row["conversations"] if turn["from"] == "function_call")
        return [call for turn in turns for call in json.loads(turn["value"])]
    return [call["function"] for message in messages(row) for call in message.get("tool_calls") or []]


def shape_faults(row: dict[str, Any], arguments: type) -> list[str]:
    """What holds for every format: no null, calls answered, objects once, a prompt first and an answer last."""
    faults = []
    if "conversations" in row:
        roles = [turn["from"] for turn in row["conversations"]]
        even = all(role in (("human", "observation"), ("gpt", "function_call"))[at % 2] for at, role in enumerate(roles))
        if not even or len(roles) % 2:
            faults.append("roles do not alternate")
        return faults + [f"arguments are {call['arguments']!r}" for call in calls(row)
                         if not isinstance(call["arguments"], dict)]
    told = messages(row)
    roles = [message["role"] for message in told if message["role"] != "system"]
    if not roles or roles[0] != "user" or roles[-1] != "assistant":
        faults.append(f"roles {roles[:1]} … {roles[-1:]}")
    if any(one == other == "user" for one, other in zip(roles, roles[1:])):
        faults.append("two user messages in a row")
    if any(not isinstance(message.get("content"), str) for message in told):
        faults.append("content is no text")
    asked = [call["id"] for message in told[:-1] for call in message.get("tool_calls") or []]
    answered = [message["tool_call_id"] for message in told if message["role"] == "tool"]
    if asked != answered:
        faults.append(f"{len(asked)} calls, {len(answered)} results")
    for call in calls(row):
        value = call["arguments"]
        if not isinstance(value, arguments) or (arguments is str and not isinstance(json.loads(value), dict)):
            faults.append(f"arguments are {value!r}"[:200])
    return faults


def tokenizer(template: str) -> Any:
    """A tokenizer of bytes with a real chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = {letter: at for at, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    plain = Tokenizer(models.BPE(vocab=letters, merges=[]))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    plain.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=plain, chat_template=template, bos_token="<s>", eos_token="</s>",
                                   pad_token="<pad>")


def trl_template(name: str) -> str:
    import trl

    return (Path(trl.__file__).parent / "chat_templates" / f"{name}.jinja").read_text()


def shown(call: dict[str, Any], text: str) -> bool:
    """Whether a call stands in a prompt, its texts as they are or escaped once."""
    values = call["arguments"]
    values = json.loads(values) if isinstance(values, str) else values
    return call["name"] in text and all(
        value[:200] in text or any(json.dumps(value[:200], ensure_ascii=ascii)[1:-1] in text for ascii in (True, False))
        for value in values.values() if isinstance(value, str))


def doubled(call: dict[str, Any], render: Callable[[list[dict[str, Any]]], str]) -> bool:
    """Whether a template shows the call's input as JSON in a JSON string."""
    message = {"role": "assistant", "content": "", "tool_calls": [
        {"id": "call_00001", "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}]}
    text = render([{"role": "user", "content": "go"}, message])
    names = json.loads(call["arguments"]) if isinstance(call["arguments"], str) else call["arguments"]
    return any(f'\\"{name}\\":' in text for name in names)


def check_trl(rows: Rows) -> list[str]:
    from trl.data_utils import apply_chat_template, is_conversational

    faults = []
    for kind, loaded in rows.loaded():
        if loaded != rows.rows:
            differ = next((at for at, (one, other) in enumerate(zip(loaded, rows.rows)) if one != other), "count")
            faults.append(f"datasets: {kind}: row {differ} is not what was written")
    done = collections.Counter()
    for name in TEMPLATES:
        reader = tokenizer(trl_template(name))
        one = lambda told: reader.apply_chat_template(told, tokenize=False)  # noqa: E731
        seen = set()
        for at, row in enumerate(rows.rows):
            if name in ONE_CALL and any(len(message.get("tool_calls") or []) > 1 for message in messages(row)):
                done[f"{name}: parallel"] += 1
                continue
            if not is_conversational(row):
                faults.append(f"row {at}: no conversation for TRL")
                continue
            try:
                made = apply_chat_template(row, reader, tools=row["tools"] or None)
            except Exception as error:  # noqa: BLE001
                faults.append(f"{name}: row {at}: {type(error).__name__}: {error}"[:300])
                continue
            text = "".join(made.values())
            for call in calls(row):
                if not shown(call, text):
                    faults.append(f"{name}: row {at}: a call of {call['name']} is not in the prompt")
                if call["name"] not in seen and not call["arguments"] == {}:
                    seen.add(call["name"])
                    if doubled(call, one):
                        faults.append(f"{name}: row {at}: arguments of {call['name']} are encoded twice")
            done[name] += 1
    print("    " + ", ".join(f"{name} {count}" for name, count in sorted(done.items())))
    return faults


STAND_INS = ("torch torchvision torchaudio peft accelerate av PIL librosa deepspeed bitsandbytes addict fire "
             "omegaconf liger_kernel scipy gradio matplotlib modelscope uvicorn fastapi sse_starlette psutil").split()


def check_llamafactory(rows: Rows) -> list[str]:
    from stand_in import stand_in_for

    stand_in_for(STAND_INS)
    from llamafactory.data.converter import SharegptDatasetConverter
    from llamafactory.data.formatter import FunctionFormatter, ToolFormatter
    from llamafactory.data.parser import DatasetAttr

    attributes = DatasetAttr("file", "rows", formatting="sharegpt", system="system", tools="tools")
    convert = SharegptDatasetConverter(attributes, None)
    formatters = {name: FunctionFormatter(slots=["{{content}}"], tool_format=name)
                  for name in ("default", "qwen", "glm4", "llama3", "mistral")}
    tools = {name: ToolFormatter(tool_format=name) for name in formatters}
    faults, done = [], 0
    for kind, loaded in rows.loaded():
        for at, (row, written) in enumerate(zip(loaded, rows.rows, strict=True)):
            made = convert(row)
            told = made["_prompt"] + made["_response"]
            if len(told) != len(written["conversations"]) or len(made["_response"]) != 1:
                faults.append(f"{kind}: row {at} is dropped")
                continue
            if made["_system"] != written["system"] or made["_tools"] != written["tools"]:
                faults.append(f"{kind}: row {at}: system prompt or tools are lost")
            if kind == "parquet":
                continue
            asked = [message["content"] for message in told if message["role"] == "function"]
            for name, formatter in formatters.items():
                for content in asked:
                    if name == "glm4" and len(json.loads(content)) > 1:
                        continue  # It refuses several calls.
                    (text,) = formatter.apply(content=content)
                    for call in json.loads(content):
                        if not shown(call, text):
                            faults.append(f"{name}: row {at}: a call of {call['name']} is lost")
                if made["_tools"]:
                    (text,) = tools[name].apply(content=made["_tools"])
                    if any(tool["name"] not in text for tool in json.loads(made["_tools"])):
                        faults.append(f"{name}: row {at}: a tool is lost")
            done += len(asked)
    print(f"    {done} messages with calls by {len(formatters)} formatters")
    return faults


def check_axolotl(rows: Rows) -> list[str]:
    from stand_in import stand_in_for

    stand_in_for(STAND_INS)
    from axolotl.prompt_strategies.chat_template import ChatTemplatePrompter, ChatTemplateStrategy

    logging.disable(logging.WARNING)
    template = trl_template("qwen3")
    reader = tokenizer(template)
    prompter = ChatTemplatePrompter(reader, template, message_field_training="train")
    strategy = ChatTemplateStrategy(prompter, reader, False, 1 << 30, roles_to_train=["assistant"])
    faults = []
    for kind, loaded in rows.loaded():
        for at, (row, written) in enumerate(zip(loaded, rows.rows, strict=True)):
            turns = strategy.get_conversation_thread(row)
            trained = [turn.get("training", True) for turn in turns if turn["role"] == "assistant"]
            if rows.per == "step" and trained != [False] * (len(trained) - 1) + [True]:
                faults.append(f"{kind}: row {at}: not only the last message is learned")
            text = reader.decode(prompter.build_prompt(turns, tools=strategy._get_tools(row)))
            lost = [call["name"] for call in calls(written) if not shown(call, text)]
            if lost:
                faults.append(f"{kind}: row {at}: calls of {lost[:3]} are not in the prompt")
    return faults


def openai_schema() -> dict[str, Any]:
    """The documented format of chat fine-tuning files; unknown fields are refused."""
    def closed(required: list[str], **fields: Any) -> dict[str, Any]:
        return {"type": "object", "properties": fields, "required": required, "additionalProperties": False}

    text = {"type": "string"}
    name = {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}
    call = closed(["id", "type", "function"], id=text, type={"const": "function"}, function=closed(
        ["name", "arguments"], name=name, arguments={"type": "string", "contentMediaType": "application/json"}))
    assistant = closed(["role", "content"], role={"const": "assistant"}, content=text, weight={"enum": [0, 1]},
                       tool_calls={"type": "array", "items": call, "minItems": 1})
    tool = closed(["role", "tool_call_id", "content"], role={"const": "tool"}, tool_call_id=text, content=text)
    said = closed(["role", "content"], role={"enum": ["system", "user"]}, content=text)
    definition = closed(["type", "function"], type={"const": "function"}, function=closed(
        ["name"], name=name, description=text, parameters={"type": "object"}))
    return closed(["messages"], messages={"type": "array", "minItems": 2, "items": {"oneOf": [assistant, tool, said]}},
                  tools={"type": "array", "items": definition}, parallel_tool_calls={"type": "boolean"})


def check_openai(rows: Rows) -> list[str]:
    import jsonschema

    validator = jsonschema.Draft202012Validator(openai_schema())
    faults = []
    for at, row in enumerate(rows.rows):
        faults += [f"row {at}: {error.json_path}: {error.message}"[:300] for error in validator.iter_errors(row)]
        if rows.per == "step":
            weights = [message["weight"] for message in row["messages"] if message["role"] == "assistant"]
            if weights != [0] * (len(weights) - 1) + [1]:
                faults.append(f"row {at}: not only the last message is learned")
    return faults


def taken_out(package: str, file: str, names: list[str], **given: Any) -> dict[str, Any]:
    """Functions and classes of a file, run without its imports."""
    import ast
    import importlib.util

    (folder,) = importlib.util.find_spec(package).submodule_search_locations
    tree = ast.parse(Path(folder, file).read_text())
    kept = [node for node in tree.body if getattr(node, "name", None) in names]
    kept += [node for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id in names]
    missing = set(names) - {getattr(node, "name", None) or node.targets[0].id for node in kept}
    if missing:
        raise SystemExit(f"{package}/{file} has no {missing}")
    future = ast.parse("from __future__ import annotations").body
    kept.sort(key=lambda node: node.lineno)
    space = {"Any": Any, "json": json, "__name__": package, **given}
    exec(compile(ast.Module(future + kept, []), file, "exec"), space)  # noqa: S102
    return space


def check_verl(rows: Rows) -> list[str]:
    import numpy
    import pandas

    nested = taken_out("verl", "utils/py_functional.py", ["convert_nested_value_to_list_recursive"], np=numpy)
    space = taken_out(
        "verl", "utils/dataset/multiturn_sft_dataset.py", ["MultiTurnSFTDataset"], Dataset=object, pd=pandas, np=numpy,
        ListConfig=list, copy_local_path_from_hdfs=lambda path, verbose: path, re=__import__("re"),
        convert_nested_value_to_list_recursive=nested["convert_nested_value_to_list_recursive"],
        extract_system_prompt_and_generation=lambda *_, **__: ([], []))
    with open(os.devnull, "w") as quiet:
        told, sys.stdout = sys.stdout, quiet
        data = space["MultiTurnSFTDataset"](str(rows.parquet), tokenizer(trl_template("qwen3")), {})
        sys.stdout = told
    faults = []
    for at, (row, tools) in enumerate(zip(rows.rows, data.tools, strict=True)):
        told = data._build_messages(data.dataframe.iloc[at].to_dict())
        if tools is not None and len(tools) != len(row["tools"]):
            faults.append(f"row {at}: tools are lost")
        text = data.tokenizer.apply_chat_template(told, tools=tools or None, tokenize=False)
        if len(told) != len(row["messages"]) or not all(shown(call, text) for call in calls(row)):
            faults.append(f"row {at}: a message or call is lost")
    one = lambda message: data.tokenizer.apply_chat_template(message, tokenize=False)  # noqa: E731
    named = {call["name"]: {**call, "arguments": json.dumps(call["arguments"])} for row in rows.rows for call in calls(row)}
    return faults + [f"arguments of {name} are encoded twice" for name, call in named.items() if doubled(call, one)]


def check_skyrl(rows: Rows) -> list[str]:
    import enum
    import functools
    from typing import Optional

    config = taken_out("skyrl", "train/config/sft_config.py", ["TrainOnWhat"], StrEnum=enum.StrEnum)
    names = ["_parse_tools_str", "_coerce_tools", "_normalize_tool_call_payload", "_NORMALIZED_KEYS",
             "_normalize_chat_messages", "tokenize_chat_example", "_unbatch", "_tokenize_chat_last_assistant"]
    space = taken_out("skyrl", "train/sft_trainer.py", names, Optional=Optional, functools=functools,
                      lru_cache=functools.lru_cache, TrainOnWhat=config["TrainOnWhat"], logger=logging.getLogger())
    reader = tokenizer(trl_template("qwen3"))
    faults = []
    for kind, loaded in rows.loaded():
        for at, (row, written) in enumerate(zip(loaded, rows.rows, strict=True)):
            made = space["tokenize_chat_example"](row, reader)
            if made is None:
                faults.append(f"{kind}: row {at} is dropped")
                continue
            text = reader.decode(made["input_ids"])
            if not all(shown(call, text) for call in calls(written)):
                faults.append(f"{kind}: row {at}: a call is lost")
    return faults


def control(binary: str, paths: list[str], folder: Path) -> list[str]:
    """The check itself: text for inputs must be noticed with templates that encode it twice."""
    rows = Rows(binary, paths, folder / "control", "trl", "session", "--arguments", "string")
    faults = [fault for row in rows.rows for fault in shape_faults(row, str)]
    found = check_trl(rows)
    twice = {fault.split(":")[0] for fault in found if "twice" in fault}
    print(f"    --arguments string: encoded twice by {sorted(twice)}; {len(found)} complaints in all")
    return faults + ([] if "qwen2_5" in twice else ["the check does not notice inputs that are encoded twice"])


def told(name: str, faults: list[str]) -> bool:
    """Prints what is wrong, if anything; whether there is something."""
    for fault in faults[:10]:
        print(f"  {name}: {fault}")
    if len(faults) > 10:
        print(f"  … and {len(faults) - 10} more")
    return bool(faults)


def inside(options: argparse.Namespace) -> int:
    sys.path.insert(0, str(HERE))
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", HF_DATASETS_DISABLE_PROGRESS_BARS="1")
    # Before any stand-in, so that these see what is really installed.
    import datasets  # noqa: F401
    import trl.data_utils  # noqa: F401

    failed = 0
    with tempfile.TemporaryDirectory(prefix="backstory-trainers-") as scratch:
        folder = Path(scratch)
        (folder / "control").mkdir()
        jobs: list[tuple[str, Callable[[], list[str]]]] = []
        for name in options.format or FORMATS:
            for per in ("session", "step"):
                def job(name: str = name, per: str = per) -> list[str]:
                    rows = Rows(options.binary, options.paths, folder, name, per)
                    total = sum(len(calls(row)) for row in rows.rows)
                    print(f"{name} by {per}: {len(rows.rows):,} rows, {total:,} calls", flush=True)
                    kind = str if name == "openai" else dict
                    faults = [f"row {at}: {fault}" for at, row in enumerate(rows.rows) for fault in shape_faults(row, kind)]
                    return (faults or []) + globals()[f"check_{name}"](rows) + ([] if total else ["no calls at all"])
                jobs.append((f"{name} by {per}", job))
        jobs.append(("control", lambda: control(options.binary, options.paths, folder)))
        for name, job in jobs:
            faults = job()
            failed += told(name, faults)
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--format", action="append", choices=FORMATS)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    if options.inside:
        return inside(options)
    python = python_or_exit("trainers")
    return subprocess.run([python, __file__, "--inside", *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
