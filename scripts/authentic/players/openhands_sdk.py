"""Runs in the environment of OpenHands: a conversation with prompts in turn.

    openhands_sdk.py URL PROJECT KEPT PROMPT...
"""

import sys

from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.terminal import TerminalTool

url, project, kept, *prompts = sys.argv[1:]
model = LLM(model="openai/scripted", base_url=url, api_key="scripted", num_retries=0)
agent = Agent(llm=model, tools=[Tool(name=TerminalTool.name), Tool(name=FileEditorTool.name)])
conversation = Conversation(agent=agent, workspace=project, persistence_dir=kept)
for prompt in prompts:
    conversation.send_message(prompt)
    conversation.run()
conversation.close()
