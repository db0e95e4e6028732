"""`seamline limit`: a filter for people's own agents."""

from __future__ import annotations

import subprocess
import sys


def limited(data: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "inspector", "limit", *options], input=data, capture_output=True)


def test_a_short_text_passes_byte_for_byte() -> None:
    data = "no line feed at the end, 日本 \r\n\0".encode()
    for policy in ("handoff", "dsh", "pi", "codex"):
        assert limited(data, "--policy", policy).stdout == data


def test_a_long_one_is_shortened_and_valid() -> None:
    ran = limited("日".encode() * 8_193, "--policy", "dsh")
    assert ran.returncode == 0
    assert ran.stdout.decode() == "日" * 4_096 + "\n\n[... tool result middle pruned ...]\n\n" + "日" * 1_024


def test_bytes_that_are_no_text_come_out_as_text() -> None:
    assert limited(b"a\xffb", "--policy", "dsh").stdout.decode() == "a\ufffdb"


def test_a_policy_without_a_rule_is_wrong_usage() -> None:
    ran = limited(b"a", "--policy", "claude-code")
    assert ran.returncode == 2 and b"claude-code" in ran.stderr.split(b"\n")[0]


def test_an_age_that_grok_leaves_alone_is_refused_in_words() -> None:
    ran = limited(b"a", "--policy", "grok-build", "--age", "1")
    assert ran.returncode == 1 and b"--age 3" in ran.stderr.split(b"\n")[0]
