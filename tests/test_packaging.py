"""The wheel holds all that the program needs, and the locks hold hashes and nobody's address."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, as an installation would lay it down."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_holds_every_file_of_the_packages_and_no_other(wheel: Path) -> None:
    for package in ("core", "inspector"):
        here = {
            path.relative_to(ROOT)
            for path in (ROOT / package).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert {path.relative_to(wheel) for path in (wheel / package).rglob("*") if path.is_file()} == here
    assert {path.name for path in wheel.iterdir()} == {"core", "inspector", "seamline-0.1.0.dist-info"}


def test_the_wheel_works_away_from_the_repository(wheel: Path, tmp_path: Path) -> None:
    sample = tmp_path / "session.jsonl"
    sample.write_bytes((ROOT / "sample_sessions" / "pi" / "order-gateway-chinese.jsonl").read_bytes())
    environment = os.environ | {"PYTHONPATH": str(wheel)}
    for words in (["view", "--tokens"], ["plan"], ["--version"]):
        done = subprocess.run(
            # -P: not the folder that it is run in, so that only the wheel can be what is imported.
            [sys.executable, "-P", "-m", "inspector", *words, *([str(sample)] if words[0] != "--version" else [])],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr


def test_the_metadata_names_the_command(wheel: Path) -> None:
    information = wheel / "seamline-0.1.0.dist-info"
    assert "seamline = inspector.__main__:main" in (information / "entry_points.txt").read_text()
    metadata = (information / "METADATA").read_text("utf-8")
    assert "Requires-Python: >=3.11" in metadata
    assert "License-Expression: MIT" in metadata
    assert (information / "licenses" / "LICENSE").exists()


@pytest.mark.parametrize("name", ["dev", "share"])
def test_every_locked_package_has_hashes_and_no_address(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    assert not re.search(r"https?://|file:|^--?\w|/opt|/home|/root|/tmp|@ ", text, re.M)
    packages = re.split(r"\n(?=[a-z0-9])", text.partition("\n")[2])
    assert len(packages) > 20
    for package in packages:
        assert re.match(r"[a-z0-9._-]+==\S+ \\\n( +--hash=sha256:[0-9a-f]{64}( \\)?\n?)+$", package), package[:80]


def test_the_locks_hold_what_the_project_asks_for() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    locked = (ROOT / "requirements" / "dev.txt").read_text("utf-8")
    wanted = data["project"]["dependencies"] + data["dependency-groups"]["dev"] + data["build-system"]["requires"]
    for requirement in wanted:
        name = re.split(r"[\[<>=!~; ]", requirement)[0]
        assert re.search(rf"^{re.escape(name)}==", locked, re.M), requirement
    assert re.search(r"^textual==0\.43\.", (ROOT / "requirements" / "share.txt").read_text("utf-8"), re.M)


def test_what_is_imported_is_what_is_asked_for() -> None:
    """Nothing works only because another package happens to bring it along."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = {re.split(r"[<>=]", wanted)[0].replace("-", "_") for wanted in data["project"]["dependencies"]}
    used: set[str] = set()
    for package in ("core", "inspector"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Import):
                    used |= {name.name.partition(".")[0] for name in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    used.add(node.module.partition(".")[0])
    assert used - set(sys.stdlib_module_names) - {"core", "inspector"} <= asked
