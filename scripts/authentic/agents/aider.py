"""Aider, from PyPI: every prompt is answered once, edits are SEARCH/REPLACE blocks in the answer, shell commands are the
user's. One answer searches for lines that are not there; the program tells the model so and asks again.
"""

import install as installer
import model as models
import story

VERSIONS = ["0.86.2"]
BLAME = True

STORY = [
    ("Here it is:", [story.Write(story.FILE, story.CREATED)]),
    ("More politely:", [story.Replace(story.FILE, "    return 'howdy'\n", story.NEW)]),
    ("That was not there, so:", [story.Replace(story.FILE, story.OLD, story.NEW)]),
    ("It greets whom it is told to greet.", []),
]
PROMPTS = [story.PROMPT, "A bit more polite, please.", story.SECOND_PROMPT]


def install(version):
    return installer.python("aider", version, [f"aider-chat=={version}"], ["3.12", "3.11", "3.10"]) / "aider"


def block(action):
    old = action.old if isinstance(action, story.Replace) else ""
    new = action.new if isinstance(action, story.Replace) else action.content
    return f"\n\n{action.path}\n```python\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```"


def play(scene, program):
    script = []
    for number, (text, edits) in enumerate(STORY):
        # The history does not tell what came from a cache.
        usage = {**story.usage(number), "cached": 0}
        script.append({"text": text + "".join(map(block, edits)), "thinking": "", "calls": [], "usage": usage})
    words = ["--model", "openai/scripted", "--edit-format", "diff", "--yes-always", "--no-auto-commits", "--no-gitignore",
             "--no-check-update", "--no-show-release-notes", "--analytics-disable", "--no-show-model-warnings",
             "--no-stream", "--no-pretty", "--no-fancy-input", "--map-tokens", "0",
             "--no-detect-urls", "--no-suggest-shell-commands"]
    with models.Model(script) as model:
        scene.run([program, *words, story.FILE], typed="".join(f"{prompt}\n" for prompt in PROMPTS),
                  OPENAI_API_BASE=model.url)
        trace = scene.trace(scene.project, ".aider.chat.history.md")
        # The calls are the edits that the program applied: it reports each.
        return scene.truth(model, trace, STORY, prompts=len(PROMPTS), calls=2, results=2, edits=2)
