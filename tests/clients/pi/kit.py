"""pi's part in the harness."""

from __future__ import annotations

from tests.clients.kit import Kit
from tests.clients.pi.client import Pi
from tests.clients.pi.old_formats import jobs
from tests.clients.subjects import Subject
from tests.generated import VARIANTS

KIT = Kit(
    versions=("1.6.0", "0.73.1"),
    client=Pi,
    generated=tuple(Subject(variant.name, data=variant.data) for variant in VARIANTS),
    edited=frozenset({"interface-migration", "native-compaction", "everything-completions"}),
    window=128_000,
    own=jobs,
)
