"""The version of the client that is installed here is found without waiting long, and asked for once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from inspector import installed
from tests.commands.conftest import Run


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def test_the_package_of_the_program_names_it(on_path: Path, tmp_path: Path) -> None:
    package = tmp_path / "lib" / "client"
    real = program(package / "dist" / "bundle" / "cli.js", "exit 1")
    (package / "package.json").write_text(json.dumps({"version": "0.73.1", "bin": {"client": "dist/bundle/cli.js"}}))
    (package / "dist" / "package.json").write_text(json.dumps({"type": "module"}))
    (on_path / "client").symlink_to(real)
    known = installed.installed_version("client")
    assert known is not None
    assert known.value == "0.73.1"
    assert "client as installed here" in known.source


def test_a_program_without_a_package_is_asked_once(on_path: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    client = program(on_path / "client", f'echo x >> {asked}; echo "client v1.6.0"')
    for _ in range(3):
        known = installed.installed_version("client")
        assert known is not None
        assert known.value == "1.6.0"
    assert asked.read_text() == "x\n"
    program(client, f'echo x >> {asked}; echo "client 1.7.0, new"')
    os.utime(client, ns=(1, 1))
    known = installed.installed_version("client")
    assert known is not None
    assert known.value == "1.7.0"


@pytest.mark.parametrize("script", ["exit 3", "echo no version", "echo 1.2.3; exit 1"])
def test_a_program_that_does_not_say_is_not_guessed(on_path: Path, script: str) -> None:
    program(on_path / "client", script)
    assert installed.installed_version("client") is None


def test_a_program_that_hangs_is_not_waited_for(on_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "PATIENCE", 0.2)
    program(on_path / "client", "exec sleep 30")
    assert installed.installed_version("client") is None


def test_what_is_not_installed_has_no_version(on_path: Path) -> None:
    assert installed.installed_version("client-of-nobody") is None


def test_a_view_is_the_one_of_the_installed_client(run: Run, session: Path, on_path: Path) -> None:
    program(on_path / "pi", "echo 0.73.1")
    out = run("view", session, "--json", PATH=f"{on_path}:/usr/bin:/bin").json
    assert out["client_version"] == "0.73.1"
    assert out["resume"]["client_version"]["source"] == "`pi --version`"
    named = run("view", session, "--json", "--client-version", "1.6.0", PATH=f"{on_path}:/usr/bin:/bin").json
    assert named["client_version"] == "1.6.0"
