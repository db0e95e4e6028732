"""Write core/models.json from the model catalogues that pi's releases carry.

The window that decides when pi compacts is the one in its own catalogue, so that is the table's source. A catalogue is
taken from a release's npm package as JSON:

    npm pack @earendil-works/pi-ai@1.6.0 && tar xzf earendil-works-pi-ai-1.6.0.tgz
    node -e 'import("./package/dist/models.generated.js").then(m => console.log(JSON.stringify(m.MODELS)))' > new.json
    python scripts/model_table.py "@earendil-works/pi-ai 1.6.0, 2026-11-20=new.json" … > core/models.json

Catalogues are given newest first: an older one only adds what the newer ones no longer list. The rows under `OTHER`
come from the providers' own documentation.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PROVIDERS = (
    "anthropic", "openai", "openai-codex", "google", "deepseek", "moonshotai", "moonshotai-cn", "kimi-coding", "zai",
    "zai-coding-cn", "minimax", "minimax-cn", "mistral", "xai", "meta", "xiaomi", "qwen-token-plan",
    "qwen-token-plan-cn", "amazon-bedrock", "azure", "azure-openai-responses", "google-vertex", "github-copilot",
    "groq", "cerebras", "openrouter",
)  # fmt: skip
"""The makers of models, and the providers that people most often reach them through."""

OTHER = {
    # The names under which DeepSeek served V3.1 and V3.2; since V4 they are no longer in the catalogue.
    "api-docs.deepseek.com, 2025-12-09 (V3.2)": {
        "deepseek": {
            "deepseek-chat": (128_000, 8_192, 0.28, 0.028, 0, 0.42),
            "deepseek-reasoner": (128_000, 65_536, 0.28, 0.028, 0, 0.42),
        }
    },
}

HEADER = """\
{
"columns": "window, max_output (tokens), then US dollars a million tokens: input, cached input, cache write (0: no charge of its own), output",
"about": "Dated data: the first list that has a model wins. Written by scripts/model_table.py; do not edit by hand.",
"list": [
"""  # noqa: E501
"""JSON, as it is read in a twentieth of the time that TOML takes."""

Row = tuple[float, ...]
Limits = dict[str, dict[str, Row]]


def read_catalogue(path: Path) -> Limits:
    """Provider to model to its limits and prices."""
    catalogue: dict[str, dict[str, dict[str, Any]]] = json.loads(path.read_text("utf-8"))
    return {
        provider: {model: read_row(facts) for model, facts in models.items()} for provider, models in catalogue.items()
    }


def read_row(facts: dict[str, Any]) -> Row:
    """One row of the table; a model whose prices are all 0 is paid in another way, and has none."""
    limits = (facts["contextWindow"], facts["maxTokens"])
    prices = tuple(facts["cost"][name] for name in ("input", "cacheRead", "cacheWrite", "output"))
    return (*limits, *prices) if any(prices) and min(prices) >= 0 else limits


def write_list(source: str, limits: Limits, seen: set[tuple[str, str]]) -> str:
    """One list as JSON, a model a line, without the models that an earlier list has."""
    providers: list[str] = []
    for provider in PROVIDERS:
        rows = sorted(
            (model, row)
            for model, row in limits.get(provider, {}).items()
            if (provider, model) not in seen and min(row[:2]) > 0
        )
        if rows:
            lines = [f"{json.dumps(model)}: [{', '.join(f'{number:.10g}' for number in row)}]" for model, row in rows]
            providers.append(f"{json.dumps(provider)}: {{\n" + ",\n".join(lines) + "\n}")
            seen |= {(provider, model) for model, _ in rows}
    return f'{{"source": {json.dumps(source)}, "models": {{\n' + ",\n".join(providers) + "\n}}"


def main(arguments: list[str]) -> None:
    """Write the table to standard output; `arguments` are SOURCE=FILE, newest first."""
    seen: set[tuple[str, str]] = set()
    catalogues = [argument.rpartition("=")[::2] for argument in arguments]
    parts = [write_list(source, read_catalogue(Path(path)), seen) for source, path in catalogues]
    parts += [write_list(source, limits, seen) for source, limits in OTHER.items()]
    sys.stdout.write(HEADER + ",\n".join(parts) + "\n]\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
