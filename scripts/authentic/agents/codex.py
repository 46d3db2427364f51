"""OpenAI Codex, from npm: two prompts, the second one in the session resumed where the release can do that; edits
through `apply_patch`, which is a tool of its own or a command of the shell.
"""

import install as installer
import model as models
import story

VERSIONS = ["0.166.0", "0.98.0", "0.50.0", "0.20.0"]
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


def number(version):
    return tuple(map(int, version.split(".")))


def model_of(version):
    """A model that the release knows and gives `apply_patch` to."""
    if number(version) < (0, 42):
        return "gpt-5"
    if number(version) < (0, 64):
        return "gpt-5-codex"
    return "gpt-5.2-codex" if number(version) < (0, 120) else "gpt-5.5"


def caller(version):
    """Releases of 2025 have a `shell` that takes words, later ones `exec_command`."""
    is_old, in_shell = number(version) < (0, 64), number(version) < (0, 42)

    def patch(*lines):
        text = "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
        if in_shell:
            return {"name": "shell", "arguments": {"command": ["apply_patch", text]}}
        return {"name": "apply_patch", "input": text}

    def call(action):
        match action:
            case story.Shell(command) if is_old:
                return {"name": "shell", "arguments": {"command": ["bash", "-c", command]}}
            case story.Shell(command):
                return {"name": "exec_command", "arguments": {"cmd": command}}
            case story.Write(path, content):
                return patch(f"*** Add File: {path}", *(f"+{line}" for line in content.splitlines()))
            case story.Replace(path, old, new):
                lines = [f"-{line}" for line in old.splitlines()] + [f"+{line}" for line in new.splitlines()]
                return patch(f"*** Update File: {path}", "@@", *lines)

    return call


def play(scene, program):
    path, version = program
    resumes = number(version) >= (0, 42)
    told = story.STORY + (story.SECOND if resumes else [])
    script = story.answers(told, caller(version))
    script[0]["thinking"] = "**Looking around**"
    home = scene.home / ".codex"
    home.mkdir()
    with models.Model(script) as model:
        (home / "config.toml").write_text(CONFIG.format(model=model_of(version), url=model.url))
        scene.run([path, "exec", story.PROMPT], CODEX_HOME=home)
        trace = scene.trace(home / "sessions", "**/rollout-*.jsonl")
        if not resumes:
            # The first rollouts hold no counts of tokens and do not say in which folder the files lie.
            found = scene.truth(model, trace, told, input=0, cache_read=0, output=0)
            return {**found, "blame": False}
        scene.run([path, "exec", "resume", trace.stem[-36:], story.SECOND_PROMPT], CODEX_HOME=home)
        trace = scene.trace(home / "sessions", "**/rollout-*.jsonl")
        return scene.truth(model, trace, told, prompts=2)
