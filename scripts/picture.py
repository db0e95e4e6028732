"""Draw docs/inspector.svg: the real inspector on the sample session, without a terminal. `make picture`."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SAMPLE = ROOT / "sample_sessions" / "pi" / "interface-migration.jsonl"
TARGET = ROOT / "docs" / "inspector.svg"
COLUMNS, ROWS = 120, 36

_WEB_FONT = re.compile(r"@font-face\s*\{[^}]*\}\s*")
"""Textual's export names a font on a web server; a picture in a repository should ask nobody."""


async def draw(session: Path) -> str:
    """The inspector's first screen as SVG, once everything is counted."""
    from inspector.app import Inspector

    app = Inspector(session)
    async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
        await pilot.pause(1)
        await app.workers.wait_for_complete()
        await pilot.press(*["down"] * 3)
        await app.workers.wait_for_complete()
        await pilot.pause(1)
        return _WEB_FONT.sub("", app.export_screenshot(title="seamline"))


def main() -> None:
    """Write the picture; refuses one that would ask a server for anything."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SEAMLINE_STATE_DIR"] = f"{folder}/state"
        os.environ["SEAMLINE_CACHE_DIR"] = f"{folder}/cache"
        copy = Path(shutil.copy2(SAMPLE, Path(folder, SAMPLE.name)))
        picture = asyncio.run(draw(copy))
    if re.search(r"url\((?!#)|@import|<image", picture):
        sys.exit("picture: Textual's export has changed: it asks a server for something")
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(picture, "utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {len(picture):,} characters")


if __name__ == "__main__":
    main()
