"""A name for a view, so that the one that was approved can be compared with the one that stands on the disk."""

from __future__ import annotations

import hashlib
import json

from core.view import View


def view_digest(view: View) -> str:
    """SHA-256 (hexadecimal) of the view's items with their sources; what is made fresh at each start is left out.

    Standard `json`, as texts may hold lone surrogates, which faster encoders refuse.
    """
    digest = hashlib.sha256()
    for item in view.items:
        digest.update(json.dumps(item.to_json(), ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode())
        digest.update(b"\n")
    return digest.hexdigest()
