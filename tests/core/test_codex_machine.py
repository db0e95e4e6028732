"""Codex on this machine: packed files, locks, where its sessions lie, and what belongs to one of them."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest
import zstandard

from core.agents.codex import AGENT
from core.compressed import Unpacked, is_compressed, unpacked_head
from core.files import Disk
from core.patch import Append, Patch
from tests.core.codex_sessions import CHILD, GRANDCHILD, THREAD, Rollout, name_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    day = tmp_path / "sessions" / "2026" / "11" / "30"
    day.mkdir(parents=True)
    return tmp_path


def day_of(home: Path) -> Path:
    return home / "sessions" / "2026" / "11" / "30"


def test_sessions_are_found_once(home: Path) -> None:
    plain = Rollout().turn("one").write(day_of(home))
    packed = day_of(home) / name_of(THREAD, ".jsonl.zst")
    packed.write_bytes(zstandard.ZstdCompressor().compress(plain.read_bytes()))
    (home / "archived_sessions").mkdir()
    other = home / "archived_sessions" / name_of(CHILD, ".jsonl.zst")
    other.write_bytes(zstandard.ZstdCompressor().compress(Rollout(CHILD).bytes()))
    (day_of(home) / "rollout-broken.jsonl").write_bytes(b"{}\n")
    assert {(found.path, found.cwd) for found in AGENT.find()} == {(plain, "/srv/demo"), (other, "/srv/demo")}
    assert AGENT.folders()[0] == home / "sessions"


def test_children_are_forks_and_sub_agents(home: Path) -> None:
    parent = Rollout().turn("one")
    path = parent.write(day_of(home))
    fork = parent.fork(CHILD).write(day_of(home))
    source = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1}}}
    helper = Rollout(GRANDCHILD, source=source).write(day_of(home))
    assert {found.path for found in AGENT.children(Disk(), path)} == {fork, helper}
    assert list(AGENT.children(Disk(), helper)) == []


def test_a_held_lock_tells_of_a_running_codex(home: Path) -> None:
    path = Rollout().turn("one").write(day_of(home))
    assert AGENT.known_running(path) is None
    lock = home / "thread-writer-locks" / f"{THREAD}.lock"
    lock.parent.mkdir()
    with open(lock, "w") as held:
        assert AGENT.known_running(path) is None
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "has this thread open" in (AGENT.known_running(path) or "")
    assert AGENT.known_running(path) is None
    assert AGENT.known_running(home / "gone.jsonl") is None


# Packed files.


def test_a_packed_file_reads_like_its_content(tmp_path: Path) -> None:
    content = bytes(range(256)) * 5000
    path = tmp_path / "x.zst"
    path.write_bytes(zstandard.compress(content[:700_000]) + zstandard.compress(content[700_000:]))
    files = Unpacked(Disk())
    assert is_compressed(Disk(), path)
    assert files.size(path) == len(content)
    assert files.read(path, 699_990, 30) == content[699_990:700_020]
    assert files.read(path, len(content) - 3, 10) == content[-3:]
    assert files.fault(path) == ""
    assert unpacked_head(Disk(), path, 1000) == content[:1000]


def test_a_large_content_leaves_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.compressed.HELD_IN_MEMORY", 10_000)
    path = tmp_path / "x.zst"
    content = bytes(range(256)) * 500
    path.write_bytes(zstandard.compress(content))
    files = Unpacked(Disk())
    assert files.read(path, 100_000, 50) == content[100_000:100_050]
    assert files.size(path) == len(content)


def test_a_bomb_is_not_unpacked_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.compressed.MOST_UNPACKED", 1 << 20)
    path = tmp_path / "x.zst"
    path.write_bytes(zstandard.compress(b"a" * 300_000_000))
    files = Unpacked(Disk())
    assert files.size(path) < 100_000_000
    assert "larger than" in files.fault(path)


@pytest.mark.parametrize(("damage", "words"), [(b"", "breaks off"), (b"junkjunk", "damaged")])
def test_damaged_packing_is_told(tmp_path: Path, damage: bytes, words: str) -> None:
    path = tmp_path / "x.zst"
    packed = zstandard.compress(b"abc" * 1000)
    path.write_bytes(packed + damage if damage else packed[:-2])
    files = Unpacked(Disk())
    assert words in files.fault(path)


def test_plain_files_and_patches_pass_through(tmp_path: Path) -> None:
    from core.files import Overlay

    path = tmp_path / "x.jsonl"
    path.write_bytes(b"one\n")
    patch = Patch((Append(path, 4, b"two\n"),), path, "append")
    files = Unpacked(Overlay(Disk(), patch))
    assert files.read(path, 0, 100) == b"one\ntwo\n"
    assert files.size(path) == 8
    assert files.exists(path)
