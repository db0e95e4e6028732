"""Each policy's way to shorten one text: dsh's as its client recorded it, all of them from streams of any length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.codex.truncating import CATALOGUE, OTHERS, cut_text
from core.agents.dsh.records import data_of, record
from core.errors import SeamlineError
from core.opening import open_session
from core.policies.limits import (
    LIMITERS,
    Options,
    limit_points,
)
from core.pruning import PruneRules

DSH = Path(__file__).parents[1] / "data/conformance/dsh/native_prune_auto/session.jsonl.zstd"
TEXT = st.text(st.sampled_from("ab\n日é😀 "), max_size=60)


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def text_of(result: dict[str, Any]) -> str:
    """The text of a recorded result, its blocks put together."""
    content = result.get("message", result)["content"]
    (block,) = content
    inner = block["content"]
    return inner if isinstance(inner, str) else "".join(part["text"] for part in inner)


def test_dsh_as_its_own_client_pruned() -> None:
    session = open_session(DSH).session
    pruned = 0
    for entry in session.entries:
        if entry.kind != "tool/result" or not isinstance(
            operation := (row := record(session, entry)).get("surfaceOp"), dict
        ):
            continue
        pruned += 1
        before = text_of(data_of(session, str(operation["start"])))
        after = text_of(row["data"])
        assert limit_points(before, 8_192, 4_096, 1_024) == after
        assert LIMITERS["dsh"](pieces(before, 100), Options()) == after
    assert pruned == 2


@pytest.mark.parametrize("policy", [CATALOGUE, OTHERS])
@pytest.mark.parametrize("text", ["x" * 100_000, "日本" * 30_000, "a😀" * 20_000, "short"])
def test_codex_as_its_reader_replays(policy: Any, text: str) -> None:
    options = Options(unit=policy.unit, limit=policy.limit)
    assert LIMITERS["codex"](pieces(text, 997), options) == cut_text(text, policy.bytes, policy.unit)


def test_pi_shows_two_thousand_units() -> None:
    def limit(text: str) -> str:
        return LIMITERS["pi"](pieces(text, 700), Options())

    assert limit("x" * 2_000) == "x" * 2_000
    assert limit("x" * 2_005) == "x" * 2_000 + "\n\n[... 5 more characters truncated]"
    assert limit("😀" * 1_000) == "😀" * 1_000
    assert limit("😀" * 1_001) == "😀" * 1_000 + "\n\n[... 2 more characters truncated]"
    assert limit("x" + "😀" * 1_000) == "x" + "😀" * 999 + "\n\n[... 1 more characters truncated]", "no half of a pair"


def test_grok_goes_by_age() -> None:
    text = "é" * 4_001
    assert LIMITERS["grok-build"]([text], Options(age=3)) == "é" * 1_500 + "\n\n[…trimmed…]\n\n" + "é" * 1_500
    assert LIMITERS["grok-build"]([text[:-1]], Options(age=9)) == text[:-1]
    assert LIMITERS["grok-build"](["x"], Options(age=10)) == "[Tool result omitted — too old]"
    with pytest.raises(SeamlineError, match="--age 3"):
        LIMITERS["grok-build"]([text], Options(age=2))


def test_handoff_keeps_what_failed_in_the_middle_of_a_log_longer_than_memory_should_hold() -> None:
    lines = [f"step {number} did fine" for number in range(200_000)]
    lines[120_000] = "E   AssertionError: expected 3 but was 4"
    lines[60_000] = "y" * 900_000
    text = "\n".join(lines)
    found = LIMITERS["handoff"](pieces(text, 1 << 16), Options())
    assert len(found) <= PruneRules().limit_to
    assert found.startswith("step 0 did fine") and found.endswith("step 199999 did fine")
    assert "expected 3 but was 4" in found
    gaps = [int(line.split()[1].replace(",", "")) for line in found.split("\n") if line.startswith("[… ")]
    shown = sum(not line.startswith("[… ") for line in found.split("\n"))
    assert sum(gaps) + shown == len(lines), "the marks say how many lines are left out"


def test_handoff_says_how_much_of_one_endless_line_is_left_out() -> None:
    found = LIMITERS["handoff"](("z" * (1 << 16) for _ in range(100)), Options())
    assert len(found) < 500 and f"[… {100 * (1 << 16) - 300 - 80:,} characters left out …]" in found


@settings(max_examples=200)
@given(TEXT, st.integers(1, 7), st.sampled_from(sorted(LIMITERS)))
def test_how_a_text_comes_in_changes_nothing(text: str, size: int, policy: str) -> None:
    whole = LIMITERS[policy]([text], Options(limit=5, unit="bytes"))
    assert LIMITERS[policy](pieces(text, size), Options(limit=5, unit="bytes")) == whole
    whole.encode("utf-8")  # valid Unicode
