"""Starting is cheap: what a command does not need is not imported, and a view costs less than half a second."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"openai", "textual", "tiktoken", "rich", "watchfiles", "pydantic", "httpx2", "textual_serve", "aiohttp"}


def imported(environment: dict[str, str], *words: object) -> set[str]:
    """The top-level packages that a run imports."""
    command = [sys.executable, "-X", "importtime", "-m", "inspector", *map(str, words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-500:]
    return {name.partition(".")[0] for name in re.findall(r"^import time:[^|]*\|[^|]*\| +(\S+)$", done.stderr, re.M)}


def test_help_imports_nothing_heavy(environment: dict[str, str]) -> None:
    names = imported(environment, "--help")
    assert "inspector" in names
    assert not names & HEAVY


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_view_without_tokens_imports_nothing_heavy(
    environment: dict[str, str], session: Path, words: tuple[str, ...]
) -> None:
    names = imported(environment, "view", session, *words)
    assert "core" in names
    assert not names & HEAVY


def test_a_view_of_50_kb_takes_less_than_half_a_second_of_cpu(environment: dict[str, str], session: Path) -> None:
    assert 45_000 < session.stat().st_size < 55_000

    def seconds() -> float:
        before = os.times()
        command = [sys.executable, "-m", "inspector", "view", str(session), "--json"]
        subprocess.run(command, env=environment, capture_output=True, check=True, timeout=60)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    assert min(seconds() for _ in range(3)) < 0.5


def test_core_stands_on_its_own(environment: dict[str, str]) -> None:
    """Every module of core, imported in one process, brings in nothing of what a person sees, and no client."""
    code = (
        "import pkgutil, sys, importlib, core\n"
        "for module in pkgutil.walk_packages(core.__path__, 'core.'):\n"
        "    importlib.import_module(module.name)\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print(*sorted(names & {'textual', 'rich', 'openai', 'inspector', 'tiktoken', 'aiohttp'}))\n"
        "print(len([name for name in sys.modules if name.startswith('core.')]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    forbidden, count = done.stdout.split("\n")[:2]
    assert forbidden == ""
    assert int(count) > 30
