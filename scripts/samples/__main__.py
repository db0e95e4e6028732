"""`python -m scripts.samples`: write the sample sessions and their truth anew; always the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

from scripts.samples import chinese, claude_code, codex, dsh, english, grok_build, openai_messages, pi
from scripts.samples.truth import truth_of

ROOT = Path(__file__).resolve().parents[2] / "sample_sessions"
OTHERS: dict[str, ModuleType] = {
    "codex": codex,
    "claude-code": claude_code,
    "dsh": dsh,
    "grok-build": grok_build,
    "openai-messages": openai_messages,
}
"""Agent → the module whose `write(story)` gives the files of a session in its format. The truth is told for pi alone:
the others tell the same stories."""


def files() -> dict[str, bytes]:
    """Every file of `sample_sessions/` that is generated, by its path inside that folder."""
    made: dict[str, bytes] = {}
    for story in (english.story(), chinese.story()):
        session = f"{pi.FOLDER}/{story.name}.jsonl"
        made[session], places = pi.write(story)
        text = json.dumps(truth_of(story, session, "pi", places), ensure_ascii=False, indent=1)
        made[f"truth/pi-{story.name}.json"] = f"{text}\n".encode()
        for agent, writer in OTHERS.items():
            files, _ = writer.write(story)
            made |= {f"{agent}/{name}": data for name, data in files.items()}
    return made


def main() -> None:
    """Write every file and say how large it is."""
    for name, data in files().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(f"{path.relative_to(ROOT.parent)}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
