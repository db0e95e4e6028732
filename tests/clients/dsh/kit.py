"""dsh's part in the harness."""

from __future__ import annotations

from functools import partial

from tests.clients.dsh.client import Dsh
from tests.clients.dsh.converted import log_of
from tests.clients.dsh.own import jobs
from tests.clients.kit import Kit
from tests.clients.subjects import Subject
from tests.generated import VARIANTS

GENERATED = {
    variant.name: Subject(variant.name, data=partial(log_of, variant), ending=".jsonl.zstd") for variant in VARIANTS
}

KIT = Kit(
    versions=("0.1.0-rc.8",),
    client=Dsh,
    generated=(GENERATED["everything-completions"],),
    edited=frozenset({"everything-completions"}),
    by_hand=frozenset({"images", "native_manual_twice", "parallel_tools_cjk", "queued_prompt"}),
    window=80_000,
    own=lambda full: jobs(GENERATED["native-compaction"]),
)
