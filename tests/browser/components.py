"""The components on a page without a server: their script and their data as JavaScript."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import headlight

(_SCRIPT,) = (Path(headlight.__file__).parent / "browser").glob("headlight-*.js")


def js_bytes(content: bytes) -> str:
    """An expression for a Uint8Array."""
    text = base64.b64encode(content).decode()
    return f'Uint8Array.from(atob("{text}"), (one) => one.charCodeAt(0))'


def _loaded(script: bytes) -> str:
    """Statements that load a module from its text, as a page without a network can.

    `serve` is what Streamlit calls.
    """
    address = "data:text/javascript;base64," + base64.b64encode(script).decode()
    names = "decode, default: serve, render, renderMessage"
    return f"const {{ {names} }} = await import({json.dumps(address)});"


COMPONENTS = _loaded(_SCRIPT.read_bytes())
