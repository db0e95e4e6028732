"""The table of models: exact, dated, and silent about what it does not know."""

import pytest

from core.models import max_output_of, table, window_of


@pytest.mark.parametrize(
    ("provider", "model", "window", "max_output"),
    [
        ("anthropic", "claude-opus-4-5", 200_000, 64_000),
        ("openai", "gpt-4o", 128_000, 16_384),
        ("openai", "gpt-4.1", 1_047_576, 32_768),
        ("deepseek", "deepseek-chat", 128_000, 8_192),
        ("zai", "glm-4.6", 204_800, 131_072),
        ("xai", "grok-4", 256_000, 64_000),
    ],
)
def test_known_models(provider: str, model: str, window: int, max_output: int) -> None:
    known_window, known_output = window_of(provider, model), max_output_of(provider, model)
    assert known_window is not None and known_output is not None
    assert (known_window.value, known_output.value) == (window, max_output)


def test_every_row_has_a_source_with_a_version_or_date_and_sensible_limits() -> None:
    for (provider, model), limits in table().items():
        assert any(character.isdigit() for character in limits.source), (provider, model)
        assert limits.window > 0 and limits.max_output > 0


def test_a_date_is_not_another_model_and_the_source_says_what_was_matched() -> None:
    known = window_of("openai", "gpt-4.1-2025-04-14")
    assert known is not None
    assert known.value == 1_047_576
    assert "as gpt-4.1" in known.source


def test_an_exact_row_wins_over_the_name_without_date() -> None:
    assert max_output_of("openai", "gpt-4o-2024-05-13").value == 4_096  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("anthropic", "claude-demo-1"),
        ("acme", "claude-opus-4-5"),
        ("openai", "gpt-4-1106-preview"),
        ("openai", "gpt-5-nova"),
        ("openai", ""),
        ("", ""),
    ],
)
def test_the_unknown_is_never_guessed(provider: str, model: str) -> None:
    assert window_of(provider, model) is None
    assert max_output_of(provider, model) is None


def test_the_same_model_differs_by_provider() -> None:
    here, there = window_of("openai", "gpt-5.4-mini"), window_of("openai-codex", "gpt-5.4-mini")
    assert here is not None and there is not None
    assert here.value == 400_000
    assert there.value == 272_000
