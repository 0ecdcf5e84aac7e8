"""The HTML of every address, the files that are taken, and how little is searched for garbage."""

import asyncio
import re
import tomllib
from collections.abc import Coroutine, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar, cast

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.web.server.starlette import starlette_routes
from streamlit.web.server.starlette.starlette_app import create_streamlit_middleware
from streamlit.web.server.starlette.starlette_routes import create_upload_routes

from transformer import InputError
from transformer.files import installed, reading
from viz.app import served, streamlit_internals
from viz.app.served import FRAMES_VARIABLE, BoundedUploads, frames_setting, policy
from viz.draw import labels

T = TypeVar("T")


def test_ours_comes_first() -> None:
    html = served.html()
    assert "<title>Headlight</title>" in html
    streamlits = html.index('<script type="module"')
    for script in served.SCRIPTS:
        assert html.index(script.read_text("utf-8")) < streamlits
    places = [html.index(path.read_text("utf-8")) for path in served.STYLE_SHEETS]
    assert places == sorted(places)
    assert {*served.STYLE_SHEETS} == {*served.STYLE_SHEETS[0].parent.iterdir()}  # none is forgotten
    assert served.STYLE_SHEETS[-1].stem == "phone"
    settings = tomllib.loads((installed.FILES / ".streamlit/config.toml").read_text("utf-8"))
    assert settings["server"]["maxUploadSize"] * reading.MIB == served.MAX_UPLOAD_BYTES


@pytest.mark.parametrize(("base", "prefix"), [("", "/"), ("/some/where/", "/some/where/")])
def test_it_answers_where_the_pages_are(base, prefix, monkeypatch) -> None:
    monkeypatch.setattr(st, "get_option", lambda _: base)
    assert {route.path for route in served.routes()} == {
        f"{prefix}{path}" for path in ("", *labels.PAGE_TITLES)
    } - {f"{prefix}translate"}  # which `unknown_page` leads to the first


FILE = "/_stcore/upload_file/mine/1"
FORM = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\n%s\r\n--x--\r\n'


def run_alone(work: Coroutine[Any, Any, T]) -> T:
    """Run in a new thread: the loop of a browser's test may still run in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


class Uploads:
    """Streamlit's own routes and store of files behind the middleware, for a session `mine`."""

    def __init__(self, base: str) -> None:
        self.uploaded_file_mgr = MemoryUploadedFileManager("upload")
        self.is_active_session = "mine".__eq__
        self.received = 0  # messages of a body that were asked for
        self.headers: dict[bytes, bytes] = {}
        routes = create_upload_routes(cast(Any, self), self.uploaded_file_mgr, base)
        middleware = [Middleware(BoundedUploads), *create_streamlit_middleware()]
        self.app = Starlette(routes=routes, middleware=middleware)

    def ask(self, method: str, path: str, *body: bytes, length: int | str = "") -> int:
        """Send a request in parts, with a length if there is one; the status of the answer."""
        self.received = 0
        return run_alone(self.answer(method, path, [*body], length))

    async def answer(
        self, method: str, path: str, parts: list[bytes], length: int | str, client: str = ""
    ) -> int:
        answers = []

        async def receive() -> dict[str, Any]:
            await asyncio.sleep(0)  # for another request
            self.received += 1
            part = parts.pop(0) if parts else b""
            return {"type": "http.request", "body": part, "more_body": bool(parts)}

        async def send(message: MutableMapping[str, Any]) -> None:
            answers.append(message)

        headers = [(b"content-type", b"multipart/form-data; boundary=x")]
        if length:
            headers.append((b"content-length", str(length).encode()))
        scope = {"type": "http", "method": method, "path": path, "headers": headers}
        await self.app(scope | {"query_string": b"", "client": (client, 1)}, receive, send)
        (start,) = (answer for answer in answers if answer["type"] == "http.response.start")
        self.headers = dict(start["headers"])
        return int(start["status"])

    def sizes(self, *names: str) -> list[int]:
        return [len(file.data) for file in self.uploaded_file_mgr.get_files("mine", names)]


@pytest.fixture
def uploads(monkeypatch: pytest.MonkeyPatch) -> Uploads:
    base = "/some/where"
    uploads = Uploads(base)
    monkeypatch.setattr(Runtime, "_instance", uploads)
    monkeypatch.setattr(served, "MAX_UPLOAD_BYTES", 2 * reading.MIB)
    monkeypatch.setattr(served, "ALL_UPLOADS", 3 * reading.MIB)
    monkeypatch.setattr(served, "UPLOADS_OF_CLIENT", 3 * reading.MIB)
    monkeypatch.setattr(starlette_routes, "is_xsrf_enabled", lambda: False)
    monkeypatch.setattr(st, "get_option", lambda _: base)
    return uploads


def test_a_file_comes_and_goes_by_the_one_route_of_files(uploads: Uploads) -> None:
    base = st.get_option("server.baseUrlPath")
    body = FORM % b"Ein Hund."
    assert uploads.ask("PUT", base + FILE, body[:70], body[70:], length=len(body)) == 204
    assert uploads.sizes("1") == [9] == [*streamlit_internals.uploaded_bytes().values()]
    nobodys = base + FILE.replace("mine", "other")
    assert uploads.ask("PUT", nobodys, body, length=len(body)) == 400
    assert (uploads.received, uploads.headers[b"connection"]) == (0, b"close")
    assert uploads.ask("DELETE", base + FILE) == 204
    assert uploads.sizes("1") == []
    elsewhere = [f"{FILE}/2", "/_stcore/upload_file/mine", "/", f"/x{FILE}", f"/{FILE}"]
    paths = [base + path for path in elsewhere] + [f"/else{FILE}"] + [FILE] * bool(base)
    writing = [(method, path) for method in ("PUT", "DELETE") for path in paths]
    writing += [(method, base + FILE) for method in ("POST", "PATCH", "TRACE", "put")]
    for method, path in writing:
        assert uploads.ask(method, path, body, length=len(body)) == 405, (method, path)
        assert (uploads.received, uploads.headers[b"connection"]) == (0, b"close")
        assert uploads.headers[b"allow"] == b"GET, HEAD, OPTIONS"
    assert sum(streamlit_internals.uploaded_bytes().values()) == 0


@pytest.mark.parametrize("length", ["", 100])
def test_a_large_file_of_any_length_is_refused(uploads, length) -> None:
    path = st.get_option("server.baseUrlPath") + FILE
    for announced in (2 * reading.MIB + 1, "9" * 5000, "-1", "x"):  # before it is read
        assert uploads.ask("PUT", path, FORM % b"a", length=announced) == 413
        assert (uploads.received, uploads.headers[b"connection"]) == (0, b"close")
    blocks = [b"a" * 2**16] * 1000  # 62 MiB, of which 2 may come
    assert uploads.ask("PUT", path, FORM[:67], *blocks, length=length) == 413
    assert uploads.received == 33  # the one beyond the bound is the last
    assert uploads.headers[b"connection"] == b"close"
    size = 2 * reading.MIB - len(FORM % b"")
    body = FORM % (b"a" * size)
    assert uploads.ask("PUT", path, body[:70], body[70:], length=length) == 204
    assert uploads.sizes("1") == [size]
    # with the first one it is more than the server holds, announced or not
    other, second = f"{path}2", FORM % (b"a" * (reading.MIB + 2**10))
    assert uploads.ask("PUT", other, second, length=len(second)) == 507
    assert uploads.received == 0
    assert uploads.ask("PUT", other, second[:70], second[70:], length=length) == 507
    assert uploads.sizes("1", "12") == [size]
    assert uploads.ask("DELETE", path) == 204
    assert uploads.ask("PUT", other, second, length=len(second)) == 204


def test_one_client_holds_a_part_of_it_in_all_tabs(uploads, monkeypatch) -> None:
    monkeypatch.setattr(served, "UPLOADS_OF_CLIENT", int(1.5 * reading.MIB))
    uploads.is_active_session = {"mine", "other", "third"}.__contains__
    path = st.get_option("server.baseUrlPath") + FILE
    body = FORM % (b"a" * reading.MIB)

    def send(session: str, client: str) -> int:
        sent = uploads.answer("PUT", path.replace("mine", session), [body], len(body), client)
        return run_alone(sent)

    assert send("mine", "10.0.0.7") == 204
    assert send("mine", "10.0.0.7") == 507
    assert send("other", "10.0.0.7") == 507
    assert send("third", "10.0.0.8") == 204
    assert uploads.ask("DELETE", path) == 204
    assert send("other", "10.0.0.7") == 204


def test_files_that_come_at_once_are_counted_together(uploads: Uploads) -> None:
    path = st.get_option("server.baseUrlPath") + FILE
    parts = [FORM[:67], *[b"a" * 2**16] * 25, b"\r\n--x--\r\n"]  # 1.6 MiB, twice
    size = sum(map(len, parts))

    async def both() -> list[int]:
        requests = (uploads.answer("PUT", f"{path}{n}", [*parts], size) for n in (0, 1))
        return await asyncio.gather(*requests)

    assert sorted(run_alone(both())) == [204, 507]


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

    run_alone(answer())
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
