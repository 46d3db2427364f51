"""A step of training on rows of `backstory pairs`, with PyTorch on a processor and a tiny random model.

The model is two layers of Qwen 3's architecture with random weights, the tokenizer one of bytes with the chat template
that TRL ships for it: nothing is downloaded. That rows load is not all; the trainer must find prompts and answers in
them, and the loss of a step must be a finite number.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from typing import Any

import trainers

LONGEST = 4096
ROWS = 8


def model(reader: Any) -> Any:
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    config = Qwen3Config(vocab_size=len(reader), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                         num_attention_heads=2, num_key_value_heads=2, head_dim=16, max_position_embeddings=LONGEST,
                         bos_token_id=reader.bos_token_id, eos_token_id=reader.eos_token_id, pad_token_id=reader.pad_token_id)
    return Qwen3ForCausalLM(config)


def usable(rows: Any, reader: Any) -> list[dict[str, Any]]:
    """The shortest rows with calls in them first: a tokenizer of bytes makes long prompts longer."""
    kept = []
    for row in rows.rows:
        length = len(reader.apply_chat_template(row["prompt"], tools=row["tools"] or None, tokenize=False))
        answer = row.get("chosen") or row.get("completion")
        kept.append((length, not answer[0].get("tool_calls"), row))
    fitting = [entry for entry in kept if entry[0] < LONGEST - 1024]
    fitting.sort(key=lambda entry: (entry[1], entry[0]))
    return [row for _, _, row in fitting[:ROWS]]


def settings(folder: str) -> dict[str, Any]:
    return {"output_dir": folder, "max_steps": 2, "per_device_train_batch_size": 2, "logging_steps": 1, "report_to": [],
            "use_cpu": True, "bf16": False, "fp16": False, "save_strategy": "no", "max_length": LONGEST,
            "disable_tqdm": True, "gradient_checkpointing": False}


def losses(trainer: Any, before: Any) -> list[str]:
    import torch

    trainer.train()
    found = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    print(f"    loss {', '.join(f'{loss:.4f}' for loss in found)}")
    faults = [] if len(found) == 2 and all(math.isfinite(loss) for loss in found) else [f"losses are {found}"]
    moved = any(not torch.equal(one, two) for one, two in zip(before, trainer.model.parameters()))
    return faults + ([] if moved else ["the step changed nothing"])


def prepared(rows: Any) -> tuple[Any, Any, list[str]]:
    from datasets import load_dataset

    reader = trainers.tokenizer(trainers.trl_template("qwen3"))
    wanted = usable(rows, reader)
    with tempfile.TemporaryDirectory() as cache:
        data = load_dataset("json", data_files=str(rows.jsonl), cache_dir=cache, keep_in_memory=True)["train"]
    ids = {row["meta"]["state_id"] for row in wanted}
    data = data.filter(lambda row: row["meta"]["state_id"] in ids, keep_in_memory=True)
    names = {"prompt", "chosen", "rejected", "completion", "label", "tools"}
    data = data.remove_columns([name for name in data.column_names if name not in names])
    with_calls = sum(bool((row.get("chosen") or row["completion"])[0].get("tool_calls")) for row in data)
    print(f"    {len(data)} rows, {with_calls} with calls, {sum(bool(row['tools']) for row in data)} with definitions")
    return reader, data, [] if with_calls else ["no row with a call is short enough"]


def trained(rows: Any, kind: Any, settings_of: Any, look: Callable[[Any, Any, Any], list[str]]) -> list[str]:
    """A step of training; `look` sees the tokenizer, the rows and the trainer before it."""
    reader, data, faults = prepared(rows)
    tiny = model(reader)
    before = [parameter.detach().clone() for parameter in tiny.parameters()]
    with tempfile.TemporaryDirectory() as folder:
        trainer = kind(model=tiny, ref_model=model(reader), args=settings_of(**settings(folder)), train_dataset=data, processing_class=reader)
        if len(trainer.train_dataset) != len(data):
            faults.append(f"{len(data) - len(trainer.train_dataset)} rows were dropped")
        return faults + look(reader, data, trainer) + losses(trainer, before)


def train_trl(rows: Any) -> list[str]:
    from trl import DPOConfig, DPOTrainer

    def call_is_learnt(reader: Any, data: Any, trainer: Any) -> list[str]:
        text = reader.decode(trainer.train_dataset[0]["chosen_ids"])
        call = data[0]["chosen"][0].get("tool_calls")
        if call and not trainers.shown(call[0]["function"], text):
            return [f"the call is not in what is learnt: {text[:200]!r}"]
        return []

    return trained(rows, DPOTrainer, DPOConfig, call_is_learnt)


def train_kto(rows: Any) -> list[str]:
    from trl import KTOConfig, KTOTrainer

    return trained(rows, KTOTrainer, KTOConfig, lambda *_: [])
