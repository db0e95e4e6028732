"""Counting: tiktoken's own numbers, offline, for any text at all, in time proportional to its length."""

import base64
import hashlib
import json
import random
import socket
import subprocess
import sys
import time
import zlib
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import SeamlineError
from core.tokens import vocabulary
from core.tokens.counting import PIECE, Counter, compact_json, pieces, well_formed
from core.tokens.images import DEFAULT_IMAGE_TOKENS
from core.view import Item

MILLION = 1_000_000


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """So that no single example pays for loading the vocabulary."""
    vocabulary.encoding()


@pytest.fixture(scope="module")
def counter() -> Counter:
    return Counter(image_tokens=1_234)


def whole(text: str) -> int:
    """The count without any splitting of ours."""
    return len(vocabulary.encoding().encode_ordinary(text))


def test_the_shipped_ranks_are_the_published_file_byte_for_byte() -> None:
    lines = (base64.b64encode(token) + b" %d\n" % rank for token, rank in vocabulary.ranks().items())
    published = b"".join(lines)
    assert len(published) == 3_613_922
    assert hashlib.sha256(published).hexdigest() == "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


def test_pattern_and_special_tokens_are_those_of_the_installed_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiktoken_ext import openai_public

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: {})
    facts = openai_public.o200k_base()
    assert facts["pat_str"] == vocabulary.PATTERN
    assert facts["special_tokens"] == vocabulary.SPECIAL_TOKENS


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("hello world", 2),
        ("", 0),
        ("antidisestablishmentarianism", 6),
        ("<|endoftext|>", 7),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 8),
    ],
)
def test_known_counts_of_o200k(counter: Counter, text: str, tokens: int) -> None:
    assert counter.text(text) == tokens


def test_damaged_or_missing_data_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for content in (b"no zlib", zlib.compress(b"other ranks")):
        file = tmp_path / "ranks"
        file.write_bytes(content)
        monkeypatch.setattr(vocabulary, "RANKS_FILE", file)
        with pytest.raises(SeamlineError, match="reinstall"):
            vocabulary.ranks()
    monkeypatch.setattr(vocabulary, "RANKS_FILE", tmp_path / "gone")
    with pytest.raises(SeamlineError, match="gone"):
        vocabulary.ranks()


def test_counting_needs_no_network_and_loads_tiktoken_only_then() -> None:
    script = """
import socket, sys
def refuse(*_, **__): raise AssertionError("network")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from core.tokens.counting import Counter
counter = Counter(image_tokens=1)
assert "tiktoken" not in sys.modules
assert counter.text("hello world") == 2
assert "tiktoken" in sys.modules and "requests" not in sys.modules
"""
    assert socket.socket.connect is not None
    environment = {"PATH": "/nonexistent", "TIKTOKEN_CACHE_DIR": "/nonexistent"}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment, cwd=Path(__file__).parents[2])


def test_the_vocabulary_loads_fast() -> None:
    vocabulary.encoding()
    start = time.process_time()
    vocabulary._build.__wrapped__()
    assert time.process_time() - start < 1.5


@given(text=st.text())
def test_small_texts_count_as_tiktoken_counts_them(text: str) -> None:
    assert Counter(image_tokens=0).text(text) == whole(text)


@given(text=st.text(alphabet=st.characters(categories=["Cs", "L", "M", "N", "P", "S", "Z", "Cc"]), max_size=60))
def test_lone_surrogates_are_replaced_and_pairs_joined(text: str) -> None:
    replaced = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert well_formed(text) == replaced
    assert Counter(image_tokens=0).text(text) == whole(replaced)


def test_a_lone_surrogate_in_a_long_text_does_not_stop_the_count(counter: Counter) -> None:
    assert counter.text("ok \ud83d " * 20_000) > 20_000
    assert counter.text("\ud83d\ude42" * 20_000) == counter.text("🙂" * 20_000)


prose = st.lists(
    st.sampled_from(
        [
            "word", " word", "Don't", " isn't", "CamelCase", "日本語", "。", "，", "한국어", "e\u0301", "नमस्ते", "🙂",
            "12345", "½", "3.14", "\n", "\n\n", "\r\n", "  ", "\t", "    ", "/", "//", "- ", "==", "'", "'s", "“", "”",
            "👩\u200d👧", "x_y", "_", "()", "});\n", "/path/to/file.py", "\x00", "\x1c", "\u2028", "\u00a0", "ſ", "İ",
        ]
    ),
    max_size=12,
).map("".join)  # fmt: skip


@given(
    text=prose,
    end=st.sampled_from([" end. ", "终。", "end\n", "x(", "9, ", "e\u0301d\r\n/"]),
    repeat=st.integers(5, 60),
)
@settings(max_examples=300)
def test_the_split_of_long_texts_leaves_the_count_as_it_is(text: str, end: str, repeat: int) -> None:
    """Wherever there is a place between words, no token spans it, so the pieces count as the whole does."""
    from core.tokens import counting

    long = (text + end) * repeat
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "PIECE", 400)
        parts = list(pieces(long))
    assert "".join(parts) == long
    assert max(map(len, parts)) <= 400
    assert sum(map(whole, parts)) == whole(long)


def test_pieces_are_the_text_and_none_is_too_long() -> None:
    for text in ("", "a", "a" * PIECE, "a" * (PIECE + 1), "word " * 10_000, "日" * 40_000, "\n" * 40_000):
        parts = list(pieces(text))
        assert "".join(parts) == text
        assert max(map(len, parts)) <= PIECE


@cache
def pathological() -> dict[str, str]:
    random.seed(1)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return {
        "spaces": " " * MILLION,
        "letters": "a" * MILLION,
        "capitals": "A" * MILLION,
        "dashes": "-" * MILLION,
        "newlines": "\n" * MILLION,
        "tabs": "\t" * MILLION,
        "slashes": "/" * MILLION,
        "nulls": "\x00" * MILLION,
        "digits": "7" * MILLION,
        "chinese": "的" * MILLION,
        "mixed chinese": "".join(chr(random.randrange(0x4E00, 0x9FA5)) for _ in range(MILLION)),
        "base64": "".join(random.choices(letters, k=MILLION)),
        "emoji": "🙂" * (MILLION // 2),
        "families": "👩\u200d👩\u200d👧\u200d👦" * (MILLION // 7),
        "accents": "e" + "\u0301" * MILLION,
        "surrogates": "\ud83d" * (MILLION // 2),
        "spaces with newlines": (" " * 999 + "\n") * 1_000,
    }


@pytest.mark.parametrize("name", sorted(pathological()))
def test_a_million_of_anything_is_counted_in_little_time(counter: Counter, name: str) -> None:
    text = pathological()[name]
    counter.text("warm up")
    start = time.process_time()
    tokens = counter.text(text)
    assert 0 < tokens <= len(text) * 4
    # About 0.3 s here; without the split some of these crash the tokenizer and others take seconds.
    assert time.process_time() - start < 3


def test_time_grows_with_the_length_and_no_faster() -> None:
    def seconds(length: int) -> float:
        texts = ["-" * length, "a" * length, " " * length]
        start = time.process_time()
        for text in texts:
            Counter(image_tokens=0).text(text)
        return time.process_time() - start

    seconds(100)
    assert seconds(800_000) < 12 * seconds(200_000) + 0.2


def test_a_text_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = Counter(image_tokens=0)
    counted: list[str] = []
    monkeypatch.setattr(counter, "_count", lambda text: counted.append(text) or len(text))
    assert [counter.text(text) for text in ("one", "two!", "one", "two!")] == [3, 4, 3, 4]
    assert counted == ["one", "two!"]


def test_the_memory_of_counts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.tokens.counting._CACHE_ENTRIES", 10)
    counter = Counter(image_tokens=0)
    assert [counter.text("word " * n) for n in range(50)] == [whole("word " * n) for n in range(50)]
    assert len(counter._counts) <= 10


def test_items_are_counted_by_what_they_are(counter: Counter) -> None:
    text = "some words that are counted"
    assert counter.count(Item("user", "text", text)) == whole(text)
    assert counter.count(Item("assistant", "thinking", text)) == whole(text)
    assert counter.count(Item("tool", "tool_result", text, call_id="c", name="read")) == whole(text)
    call = Item("assistant", "tool_call", call_id="c", name="read", arguments={"path": "a.py", "limit": 10})
    assert counter.count(call) == whole("read") + whole('{"path":"a.py","limit":10}')
    broken = Item("assistant", "tool_call", call_id="c", name="read", arguments='{"path": "a')
    assert counter.count(broken) == whole("read") + whole('{"path": "a')


def test_an_image_has_the_stated_rate_whatever_its_size(counter: Counter) -> None:
    image = Item("user", "image", media_type="image/png", sha256="0" * 64, image_bytes=3_300_000)
    assert counter.count(image) == 1_234
    assert Counter().count(image) == DEFAULT_IMAGE_TOKENS


def test_an_encrypted_blob_is_never_charged_as_text(counter: Counter) -> None:
    assert counter.count(Item("assistant", "thinking", "A" * 10_000, opaque=True)) == 0


@given(
    arguments=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=30,
    )
)
def test_arguments_nested_too_deeply_are_spelled_the_same(arguments: object) -> None:
    from core.tokens.counting import _spelled

    expected = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    assert "".join(_spelled(arguments)) == expected
    if not isinstance(arguments, str):
        assert compact_json(arguments) == expected


def test_a_very_deep_argument_is_counted() -> None:
    deep: object = 1
    for _ in range(5_000):
        deep = [{"a": deep}]
    assert compact_json(deep) == '[{"a":' * 5_000 + "1" + "}]" * 5_000
