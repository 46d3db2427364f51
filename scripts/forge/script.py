"""What the scripted API will answer, and the record of what it did.

A conversation is told apart by its first user message: a subagent's conversation opens with the prompt that the
scenario gave to that subagent, every other one that offers tools is the main conversation.
"""

import threading
import time

import purpose

HOLD_LIMIT = 120.0


class Conversation:
    """The scripted replies of one agent, in order."""

    def __init__(self, name, ordinal, prompt, replies):
        self.name, self.ordinal, self.prompt, self.replies = name, ordinal, prompt, replies
        self.served = 0

    def sticks(self):
        """Whether the next reply is a refusal that is repeated however often the client tries."""
        return self.served < len(self.replies) and "repeat" in self.replies[self.served]

    def compacted(self):
        """The context has been made smaller: no reason to refuse any longer."""
        if self.sticks() and self.replies[self.served]["repeat"] == "until-compaction":
            self.served += 1

    def unused(self):
        """How many replies nobody asked for, spare ones left out."""
        left = self.replies[self.served :]
        return sum(1 for reply in left if not reply.get("spare") and not reply.get("refused"))


class Script:
    """What will be answered, and the record of what was."""

    def __init__(self, agents):
        """`agents` maps a subagent's name to {"prompt", "replies"}."""
        self.main = Conversation("main", 0, None, [])
        self.agents = [
            Conversation(name, number, agent["prompt"], list(agent["replies"]))
            for number, (name, agent) in enumerate(agents.items(), 1)
        ]
        self.lock = threading.Condition()
        self.run = 0
        self.requests, self.replies, self.refusals, self.side, self.results = [], [], [], [], {}
        self.released, self.left_over = set(), 0

    def begin_run(self, number, run):
        """Queues the main conversation's replies for the next client process; returns the index of the first."""
        with self.lock:
            self.run = number
            self.left_over += self.main.unused()
            if self.main.sticks():
                self.main.served += 1
            first = self.main.served
            self.main.replies[first:] = [dict(reply) for reply in run["replies"]]
            for prompt in run["prompts"]:
                if "during_reply" in prompt:
                    index = first + prompt["during_reply"]
                    self.main.replies[index]["hold"] = ("prompt", index)
            return first

    def last_session(self):
        """The session that asked last, for clients that do not print an id."""
        with self.lock:
            return self.requests[-1]["session"] if self.requests else None

    def release(self, hold):
        """Lets a reply go that waits for `hold`, such as the writing of a prompt."""
        with self.lock:
            self.released.add(hold)
            self.lock.notify_all()

    def wait_for_request(self, conversation, index, limit):
        """Waits until reply `index` of a conversation has been asked for; says whether it was."""
        with self.lock:
            return self.lock.wait_for(
                lambda: any(r["agent"] == conversation and r["index"] >= index for r in self.requests), limit
            )

    def main_message(self, index):
        """The id of a message that the main conversation was served."""
        with self.lock:
            [found] = [r["message_id"] for r in self.replies if r["agent"] == "main" and r["index"] == index]
            return found

    def unused(self):
        """How many scripted replies nobody asked for, by agent."""
        with self.lock:
            left = {conversation.name: conversation.unused() for conversation in [self.main, *self.agents]}
            left["main"] += self.left_over
        return {name: count for name, count in left.items() if count}

    def conversation_of(self, body):
        opening = purpose.opening_text(body)
        for agent in self.agents:
            if agent.prompt in opening:
                return agent
        return self.main

    def take(self, body):
        """Notes a request of a conversation and hands out its reply with what identifies it."""
        with self.lock:
            conversation = self.conversation_of(body)
            index = conversation.served
            scripted = index < len(conversation.replies)
            reply = conversation.replies[index] if scripted else {"blocks": [{"type": "text", "text": "done"}]}
            if conversation.sticks():
                reply["refused"] = True
            else:
                conversation.served += 1
            request = {
                "number": len(self.requests),
                "run": self.run,
                "agent": conversation.name,
                "index": index,
                "scripted": scripted,
                "session": purpose.session_of(body),
                "model": body.get("model"),
                "prompt_texts": purpose.prompt_texts(body),
            }
            self.results.update(purpose.results_of(body))
            self.requests.append(request)
            self.lock.notify_all()
            return conversation, request, reply

    def hold(self, reply):
        """Waits for what the reply depends on: a prompt being written, another agent's reply being served."""
        deadline = time.monotonic() + HOLD_LIMIT
        wanted = reply.get("hold")
        if wanted:
            with self.lock:
                self.lock.wait_for(lambda: wanted in self.released, deadline - time.monotonic())
            time.sleep(0.3)
        after = reply.get("after")
        if after:
            with self.lock:
                self.lock.wait_for(
                    lambda: any(
                        r["agent"] == after["agent"] and r["index"] >= after["reply"] and r["end"] for r in self.replies
                    ),
                    deadline - time.monotonic(),
                )
            time.sleep(after.get("seconds", 0.5))
