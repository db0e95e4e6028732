"""Sentences, logs and command lines: the small readers under the summary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.summary.history import trivial
from core.summary.logs import MOST_LINES, failure_blocks, first_message
from core.summary.sentences import sentences
from core.summary.shell import changed_paths, is_milestone, is_search, is_test


def split(text: str) -> list[str]:
    return [sentence.of(text) for sentence in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("See e.g. file.py, i.e. v1.2. Then go.", ["See e.g. file.py, i.e. v1.2.", "Then go."]),
        ("Use `f(a, ...)` here. Ok.", ["Use `f(a, ...)` here.", "Ok."]),
        ("- a\n- b: c\n1. d", ["a", "b: c", "d"]),
        ("# Title\nText", ["# Title", "Text"]),
        ("不要改接口。保持测试通过！好吗？", ["不要改接口。", "保持测试通过！", "好吗？"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("Before\n```\nnot. a sentence.\n```\nAfter.", ["Before", "After."]),
        (
            "This line is long enough to be wrapped by an editor\nand goes on here.\nNext",
            ["This line is long enough to be wrapped by an editor\nand goes on here.", "Next"],
        ),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert split(text) == expected


@given(st.text(alphabet='ab .!?。；\n`-#"”1e', max_size=80))
def test_sentences_are_parts_in_order(text: str) -> None:
    last = 0
    for sentence in sentences(text):
        assert last <= sentence.start < sentence.end <= len(text)
        assert sentence.of(text) == sentence.of(text).strip()
        last = sentence.end


@pytest.mark.parametrize("text", ["ok, thanks", "great, thanks!", "👍", "继续", "好的，谢谢！👍", "go ahead", "Hi!"])
def test_courtesies(text: str) -> None:
    assert trivial(text)


@pytest.mark.parametrize("text", ["ok, but never push", "继续改 importer", "yes, with the tests", "Then do it."])
def test_more_than_a_courtesy(text: str) -> None:
    assert not trivial(text)


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("git mv a.py b.py", {"a.py": "removed", "b.py": "command"}),
        ("rm -rf 'my dir' x", {"my dir": "removed", "x": "removed"}),
        ("sed -i -e 's/a/b/' f.py", {"f.py": "command"}),
        ("sed -i '' 's/a/b/' f.py", {"f.py": "command"}),
        ("sed 's/a/b/' f.py", {}),
        ("perl -pi -e 's/a/b/' f.py g.py", {"f.py": "command", "g.py": "command"}),
        ("echo 'a > b' >> log.txt 2>&1", {"log.txt": "command"}),
        ("cat > new.py <<'EOF'\nprint(1 > 0)\nrm x\nEOF\nls", {"new.py": "command"}),
        ("pytest 2>/dev/null | tee out.txt", {"out.txt": "command"}),
        ("cp a b && touch c", {"b": "command", "c": "command"}),
        ("grep '=>' a.js; test 3 -gt 2", {}),
        ("it's broken", {}),
        (
            "cd src && mv a.py b.py lib/ && cd lib && rm c.py",
            {
                "src/a.py": "removed",
                "src/b.py": "removed",
                "src/lib/a.py": "command",
                "src/lib/b.py": "command",
                "src/lib/c.py": "removed",
            },
        ),
        ("for f in *.js; do rm $f; done", {}),
        ("mv x/config.ts .", {"x/config.ts": "removed", "config.ts": "command"}),
    ],
)
def test_paths_that_a_command_changes(command: str, paths: dict[str, str]) -> None:
    assert dict(changed_paths(command)) == paths


def test_kinds_of_commands() -> None:
    assert is_test(".venv/bin/python -m pytest -q") and is_test("npm run test") and is_test("cd x && go test ./...")
    assert not is_test("cat tests/test_a.py") and not is_test("git log --grep=test")
    assert is_milestone("git add -A && git commit -m x") and not is_milestone("git status")
    assert (
        is_search("cat a | grep b")
        and is_search("grep 'a\\|b' x")
        and is_search("rg x")
        and not is_search("grep a b && make")
    )


def test_only_what_the_framework_says() -> None:
    log = "\n".join(
        [
            *(f"ERROR worker {n}: connection reset, retrying" for n in range(3_000)),
            "E       AssertionError: statement 3: expected 1830.15, got 1830.16",
            "tests/test_a.py:55: AssertionError",
            "FAILED tests/test_a.py::test_b[3] - AssertionError",
        ]
    )
    (block,) = failure_blocks(log)
    assert block.endswith("FAILED tests/test_a.py::test_b[3] - AssertionError")
    assert "expected 1830.15, got 1830.16" in block
    assert len(block.split("\n")) == 5
    assert first_message(log).startswith("E       AssertionError")


@given(
    st.lists(
        st.sampled_from(["", "ok", "E   boom", "error: x", "FAILED t::a", "Traceback (most recent)"]), max_size=300
    )
)
def test_blocks_are_parts_and_few(lines: list[str]) -> None:
    text = "\n".join(lines)
    blocks = failure_blocks(text)
    assert sum(len(block.split("\n")) for block in blocks) <= MOST_LINES
    assert all(block in text for block in blocks)


def test_without_an_error_the_end_is_given() -> None:
    assert failure_blocks("a\nb\n\nc") == ("a\nb\n\nc",)
    assert first_message("one\ntwo\n") == "two"
