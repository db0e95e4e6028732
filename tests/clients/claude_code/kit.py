"""Claude Code's part in the harness."""

from __future__ import annotations

from functools import partial

from tests.clients.claude_code.client import ClaudeCode
from tests.clients.claude_code.converted import session_of
from tests.clients.claude_code.own import jobs
from tests.clients.kit import Kit
from tests.clients.subjects import Subject
from tests.generated import VARIANTS

NAMES = ("native-compaction", "parallel", "images", "everything-completions")

KIT = Kit(
    versions=("2.1.332",),
    client=ClaudeCode,
    generated=tuple(Subject(one.name, data=partial(session_of, one)) for one in VARIANTS if one.name in NAMES),
    edited=frozenset({"parallel", "everything-completions"}),
    by_hand=frozenset({"native_parallel_calls", "native_compact_twice", "native_images", "context_lines_order"}),
    window=110_000,
    own=jobs,
)
