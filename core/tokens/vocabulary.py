"""The o200k_base vocabulary, shipped with the program, so that counting never touches the network."""

from __future__ import annotations

import hashlib
import zlib
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from core.errors import SeamlineError

if TYPE_CHECKING:
    import tiktoken

RANKS_FILE = Path(__file__).parent / "data" / "o200k_base.ranks.zlib"
RANKS_SHA256 = "440741350e7cfa1c0f4869ce742d1b043550adbda5187adcac9e787edac6fba9"
"""Of the decompressed file. The same ranks in tiktoken's own form hash to 446a9538…, as a test shows."""
TOKENS = 199_998

# How text is split before the byte pairs are merged, and the two special tokens: facts of tiktoken 0.14.0,
# tiktoken_ext.openai_public.o200k_base. A test holds them against the installed tiktoken.
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
PATTERN = "|".join(
    (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
SPECIAL_TOKENS = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}

_loading = Lock()


def ranks() -> dict[bytes, int]:
    """Each token's bytes and rank. Raises SeamlineError where the shipped file is missing or damaged."""
    try:
        data = zlib.decompress(RANKS_FILE.read_bytes())
    except (OSError, zlib.error) as error:
        raise SeamlineError(f"{RANKS_FILE}: the vocabulary cannot be read ({error}); reinstall seamline") from error
    if hashlib.sha256(data).hexdigest() != RANKS_SHA256:
        raise SeamlineError(f"{RANKS_FILE}: the vocabulary is damaged (sha256 differs); reinstall seamline")
    bounds = pairwise(accumulate(data[:TOKENS], initial=TOKENS))
    return {data[start:end]: rank for rank, (start, end) in enumerate(bounds)}


def encoding() -> tiktoken.Encoding:
    """The tokenizer, built once in a process; about 0.3 s of CPU the first time."""
    with _loading:
        return _build()


@cache
def _build() -> tiktoken.Encoding:
    import tiktoken

    return tiktoken.Encoding(
        "o200k_base", pat_str=PATTERN, mergeable_ranks=ranks(), special_tokens=dict(SPECIAL_TOKENS)
    )
