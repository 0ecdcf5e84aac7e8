"""Headers of every answer, from the app itself."""

import asyncio
import re
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from transformer import InputError
from viz.app import served
from viz.app.served import FRAMES_VARIABLE, frames_setting, policy


def ask(app: Starlette, method: str, path: str) -> tuple[int, dict[str, str]]:
    """Return status and headers of an answer."""
    starts: list[MutableMapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: MutableMapping[str, Any]) -> None:
        starts.extend([message] if message["type"] == "http.response.start" else [])

    async def answer() -> None:
        scope = {"type": "http", "method": method, "path": path, "headers": []}
        with suppress(KeyError):  # Starlette raises it again for the log
            await app(scope | {"query_string": b""}, receive, send)

    with ThreadPoolExecutor(1) as pool:  # the loop of a browser's test may still run in this one
        pool.submit(asyncio.run, answer()).result()
    headers = {name.decode(): value.decode() for name, value in starts[0]["headers"]}
    return starts[0]["status"], headers


def test_every_answer_has_them() -> None:
    def fail(_request: object) -> PlainTextResponse:
        raise KeyError

    routes = [Route("/media/1", lambda _: PlainTextResponse("1")), Route("/fail", fail)]
    app = Starlette(
        routes=[*routes, *served.routes()],
        middleware=served.middleware(),
        exception_handlers={Exception: served.answer_error},
    )
    asked = {("GET", "/"): 200, ("GET", "/media/1"): 200, ("GET", "/x"): 404, ("POST", "/"): 405,
             ("GET", "/fail"): 500}  # fmt: skip
    for request, status in asked.items():
        answered, headers = ask(app, *request)
        assert answered == status
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]
        assert headers["content-security-policy"] == policy(served.html(), "")


def test_scripts_of_the_page_alone_may_run() -> None:
    # the digest of `1`, by `printf 1 | openssl dgst -sha256 -binary | base64`
    sources = re.search(
        "script-src (.*?);", policy("<script>1</script><script src=x></script>", "")
    )
    digest = "'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"
    assert sources is not None
    assert sources[1].split() == ["'self'", "'wasm-unsafe-eval'", digest]


def test_sites_that_may_frame_the_app_are_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FRAMES_VARIABLE, " https://example.org  https://*.hf.space:8443 * ")
    assert policy("", frames_setting()).endswith(
        "frame-ancestors 'self' https://example.org https://*.hf.space:8443 *"
    )
    for wrong in ("example.org", "https://a.org;script-src *", "'none'", "https://a.org/page"):
        monkeypatch.setenv(FRAMES_VARIABLE, wrong)
        with pytest.raises(InputError, match=FRAMES_VARIABLE):
            frames_setting()
