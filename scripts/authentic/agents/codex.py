"""OpenAI Codex, from npm: two prompts, the second one in a resumed session; edits through `apply_patch`."""

import install as installer
import model as models
import story

VERSIONS = ["0.166.0", "0.50.0"]
BLAME = True

CONFIG = """model = "{model}"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "{url}"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0
"""


def install(version):
    return installer.node("codex", version, [f"@openai/codex@{version}"]) / "codex", version


def patch(*lines):
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def caller(version):
    """Releases of 2025 have a `shell` that takes words, later ones `exec_command`."""

    def call(action):
        match action:
            case story.Shell(command) if version.startswith("0.50."):
                return {"name": "shell", "arguments": {"command": ["bash", "-c", command]}}
            case story.Shell(command):
                return {"name": "exec_command", "arguments": {"cmd": command}}
            case story.Write(path, content):
                added = [f"+{line}" for line in content.splitlines()]
                return {"name": "apply_patch", "input": patch(f"*** Add File: {path}", *added)}
            case story.Replace(path, old, new):
                lines = [f"-{line}" for line in old.splitlines()] + [f"+{line}" for line in new.splitlines()]
                return {"name": "apply_patch", "input": patch(f"*** Update File: {path}", "@@", *lines)}

    return call


def play(scene, program):
    path, version = program
    told = story.STORY + story.SECOND
    script = story.answers(told, caller(version))
    script[0]["thinking"] = "**Looking around**"
    home = scene.home / ".codex"
    home.mkdir()
    with models.Model(script) as model:
        name = "gpt-5-codex" if version.startswith("0.50.") else "gpt-5.5"
        (home / "config.toml").write_text(CONFIG.format(model=name, url=model.url))
        scene.run([path, "exec", story.PROMPT], CODEX_HOME=home)
        trace = scene.trace(home / "sessions", "**/rollout-*.jsonl")
        scene.run([path, "exec", "resume", trace.stem[-36:], story.SECOND_PROMPT], CODEX_HOME=home)
        trace = scene.trace(home / "sessions", "**/rollout-*.jsonl")
        return scene.truth(model, trace, told, prompts=2)
