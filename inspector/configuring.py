"""Where the person's settings are, and the settings: the edge where the environment is asked."""

from __future__ import annotations

import os
from pathlib import Path

from core.config import Config, read_config

VARIABLE = "SEAMLINE_CONFIG"


def config_path() -> Path:
    """SEAMLINE_CONFIG, or `config.toml` in the system's folder for settings."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    from platformdirs import user_config_path

    return user_config_path("seamline", appauthor=False) / "config.toml"


def config() -> Config:
    """The person's settings. Raises SeamlineError where the file is wrong."""
    return read_config(config_path())
