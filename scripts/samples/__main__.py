"""`python -m scripts.samples`: write the sample sessions and their truth anew; always the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

from scripts.samples import chinese, english, pi
from scripts.samples.truth import truth_of

ROOT = Path(__file__).resolve().parents[2] / "sample_sessions"
WRITERS: dict[str, ModuleType] = {"pi": pi}


def files() -> dict[str, bytes]:
    """Every file of `sample_sessions/` that is generated, by its path inside that folder."""
    made: dict[str, bytes] = {}
    for story in (english.story(), chinese.story()):
        for agent, writer in WRITERS.items():
            session = f"{writer.FOLDER}/{story.name}.jsonl"
            data, places = writer.write(story)
            truth = truth_of(story, session, agent, places)
            made[session] = data
            text = json.dumps(truth, ensure_ascii=False, indent=1)
            made[f"truth/{agent}-{story.name}.json"] = f"{text}\n".encode()
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
