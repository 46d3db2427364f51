"""What the official reader says: a thin layer over `claude_agent_sdk`.

Every answer is plain data, so that the comparison knows nothing of the SDK.
An exception of the SDK is an answer too: it is returned by name.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any, Callable

import claude_agent_sdk as sdk


@dataclasses.dataclass(frozen=True)
class Agent:
    id: str
    uuids: list[str]
    call: str | None


@dataclasses.dataclass(frozen=True)
class Conversation:
    """`raised` names the exception when the official reader could not answer."""

    uuids: list[str]
    agents: list[Agent]
    raised: str | None


def within(config: Path, question: Callable[[], Any]) -> Any:
    before = os.environ.get("CLAUDE_CONFIG_DIR")
    os.environ["CLAUDE_CONFIG_DIR"] = str(config)
    try:
        return question()
    finally:
        if before is None:
            del os.environ["CLAUDE_CONFIG_DIR"]
        else:
            os.environ["CLAUDE_CONFIG_DIR"] = before


def listing(config: Path) -> dict[str, sdk.SDKSessionInfo]:
    return {info.session_id: info for info in within(config, sdk.list_sessions)}


def conversation(config: Path, session: str, folder: str | None = None) -> Conversation:
    """`folder` is the project's path; needed only where two projects hold the same id."""

    def ask() -> Conversation:
        uuids: list[str] = []
        agents: list[Agent] = []
        try:
            uuids = [message.uuid for message in sdk.get_session_messages(session, folder)]
            for agent in dict.fromkeys(sdk.list_subagents(session, folder)):
                messages = sdk.get_subagent_messages(session, agent, folder)
                call = messages[0].parent_tool_use_id if messages else None
                agents.append(Agent(agent, [message.uuid for message in messages], call))
        except Exception as error:  # whatever it raises is its answer
            return Conversation(uuids, agents, type(error).__name__)
        return Conversation(uuids, agents, None)

    return within(config, ask)
