"""Headers that let the browser run only our scripts, and frame the app only on allowed sites."""

import base64
import hashlib
import os
import re
from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from transformer.errors import InputError

FRAMES_VARIABLE = "HEADLIGHT_FRAME_ANCESTORS"
"""Environment variable with the sites whose pages may show the app in a frame, beside its own."""

_SITE = re.compile(r"\*|https?://(\*\.)?[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*(:([0-9]+|\*))?")
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)

DEVICES = "camera display-capture geolocation hid microphone midi payment serial usb"


def security_headers(html: str, frames: str) -> dict[str, str]:
    """Return the headers by their names, for a page whose inline scripts may run.

    `frames` are sites that may show the app in a frame, separated by spaces.
    """
    return {
        "Content-Security-Policy": policy(html, frames),
        "Permissions-Policy": ", ".join(f"{device}=()" for device in DEVICES.split()),
        "Referrer-Policy": "same-origin",  # the address has what was typed
        "X-Content-Type-Options": "nosniff",
    }


class SecurityHeaders:
    """Middleware that adds headers to every answer of the application behind it."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self.app = app
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, and add the headers to the answer."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)


def policy(html: str, frames: str) -> str:
    """Return the Content-Security-Policy of a page.

    Streamlit writes styles into the page as it runs, has a font in one of them, and computes whole
    numbers of 64 bits in WebAssembly. Pictures are saved by `data:` and `blob:`. Vega interprets
    its expressions in Streamlit, so nothing needs `unsafe-eval`.
    """
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE.findall(html))
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    directives = {
        "default-src": "'self'",
        "script-src": f"'self' 'wasm-unsafe-eval' {hashes}",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": f"'self' {frames}".strip(),
    }
    return "; ".join(f"{name} {sources}" for name, sources in directives.items())


def frames_setting() -> str:
    """Return the sites that `HEADLIGHT_FRAME_ANCESTORS` names; "" for none."""
    sites = os.environ.get(FRAMES_VARIABLE, "").split()
    for site in sites:
        if not _SITE.fullmatch(site):
            raise InputError(
                f"{FRAMES_VARIABLE} has {site!r}: write sites as https://example.org or "
                f"https://*.example.org, with spaces between them."
            )
    return " ".join(sites)
