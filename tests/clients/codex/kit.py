"""Codex's part in the harness."""

from __future__ import annotations

from tests.clients.codex.client import Codex
from tests.clients.codex.generated import SUBJECTS
from tests.clients.kit import Kit

KIT = Kit(
    versions=("0.171.0",),
    client=Codex,
    generated=SUBJECTS,
    edited=frozenset({"interface-migration", "hidden-thinking"}),
    by_hand=frozenset(
        {
            "compaction_midturn",
            "compaction_remote",
            "fork_history_base",
            "images_user_and_tool",
            "legacy_message_only_compaction",
            "model_with_tools_as_items",
            "rollback_turns",
            "tools_parallel_reasoning",
            "torn_tail",
            "zst_session",
        }
    ),
)
