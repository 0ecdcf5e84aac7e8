"""Proxies between a browser and the server: nginx, Caddy, and one that refuses WebSockets."""

import os
import shutil
import socket
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit

import pytest

from tests.browser import app_page
from tests.browser.servers import APP, ROOT, served
from tests.kit import free_port
from viz.app.models.menu import CHECKPOINT_VARIABLE, MODELS_VARIABLE

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

expect = app_page.expect
BASE = "headlight"
NGINX = """
# a server of root has workers of "nobody", who may not buffer a large script in the folder
daemon off; user root; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""
CADDY_RUN = ["run", "--adapter=caddyfile", "--config"]


class Refusing(ThreadingTCPServer):
    """A proxy that refuses WebSockets while `blocks` is true."""

    daemon_threads = True
    blocks = True
    behind: tuple[str, int]


class Connection(BaseRequestHandler):
    """A connection to the app through `Refusing`."""

    server: Refusing

    def handle(self):
        begin = self.request.recv(65_536)
        if self.server.blocks and b"upgrade: websocket" in begin.lower():
            self.request.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return
        with suppress(OSError), socket.create_connection(self.server.behind) as app:
            app.sendall(begin)
            threading.Thread(target=self.copy, args=(app, self.request), daemon=True).start()
            self.copy(self.request, app)

    @staticmethod
    def copy(source, sink):
        with suppress(OSError):
            while data := source.recv(65_536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


@pytest.fixture
def refusing(address):
    """A proxy in front of the app that refuses WebSockets."""
    place = urlsplit(address)
    with Refusing(("127.0.0.1", 0), Connection) as server:
        server.behind = place.hostname, place.port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


# timers of a second or more wait until a test lets them go: Playwright's clock would be one of all
# tabs of a context, and another context loads all scripts again
HELD = """{
    const [set, clear] = [setTimeout, clearTimeout];
    window.held = new Map();
    window.setTimeout = (act, ms = 0, ...given) => {
        if (ms < 1000) return set(act, ms, ...given);
        const name = `held ${performance.now()} ${Math.random()}`;
        held.set(name, { act, ms });
        return name;
    };
    window.clearTimeout = (name) => held.delete(name) || clear(name);
}"""
WAITING = "[...held.values()].map(({ ms }) => ms)"
LET_GO = """(most) => [...held].filter(([, { ms }]) => ms <= most).forEach(([name, { act }]) => {
    held.delete(name);
    act();
})"""


def test_a_page_whose_websocket_is_blocked_says_so_until_it_connects(browser, address, refusing):
    page = browser.new_page()
    page.add_init_script(HELD)
    notice = page.locator(".hl-blocked[role=status]")
    app = page.locator("[data-test-connection-state]")
    page.goto(f"http://127.0.0.1:{refusing.server_address[1]}/schedule?text=The+dog+sings.")
    app_page.until(page, lambda: 10_000 in page.evaluate(WAITING), True)
    page.evaluate(LET_GO, 9_999)
    assert notice.inner_text() == ""
    page.evaluate(LET_GO, 10_000)
    expect(notice).to_contain_text("WebSockets")
    expect(notice.locator("code")).to_contain_text("headlight report")
    refusing.blocks = False

    def connected():  # Streamlit waits longer after each attempt
        page.evaluate(LET_GO, 60_000)
        return app.get_attribute("data-test-connection-state")

    app_page.until(page, connected, "CONNECTED")
    expect(notice).to_have_count(0)
    page.evaluate(LET_GO, 60_000)
    expect(page.locator("h1")).to_contain_text("Schedule")
    expect(notice).to_have_count(0)
    page.close()


@pytest.fixture(scope="module")
def below_a_path(tmp_path_factory, trained_folder):
    """Address of the app below a sub-path."""
    folder = tmp_path_factory.mktemp("below")
    env = {
        CHECKPOINT_VARIABLE: str(trained_folder),
        MODELS_VARIABLE: str(folder),
        "STREAMLIT_SERVER_BASE_URL_PATH": BASE,
    }
    with served(APP, folder / "server.log", env) as address:
        yield address


@contextmanager
def proxy(name, folder, address):
    """The address of nginx or Caddy in front of the app, as our configuration says."""
    path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
    if path is None and os.environ.get(f"HEADLIGHT_REQUIRE_{name.upper()}") == "1":
        pytest.fail(f"no {name} on this machine", pytrace=False)
    if path is None:
        pytest.skip(f"no {name} on this machine")
    listen = f"127.0.0.1:{free_port()}"
    file, frame, here, there, run = {
        "nginx": ("nginx.conf", NGINX, "listen 80;", f"listen {listen};", ["-c"]),
        "caddy": ("Caddyfile", "", "\n:80 {", f"\nhttp://{listen} {{", CADDY_RUN),
    }[name]
    site = (ROOT / "deploy" / file).read_text("utf-8").replace(here, there)
    site = site.replace("127.0.0.1:8501", urlsplit(address).netloc).replace("10s", "1s")
    (folder / "site.conf").write_text(site)
    (folder / "main").write_text(frame.format(folder=folder) or site)
    folders = dict.fromkeys(("XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(folder))
    env = {**os.environ, **folders, "CADDY_ADMIN": "off"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [path, *run, str(folder / "main")], env=env, stdout=log, stderr=log
        )
        try:
            until_open(listen, process, folder / "log")
            yield f"http://{listen}"
        finally:
            process.terminate()
            process.wait(10)


def until_open(listen, process, log):
    host, _, port = listen.rpartition(":")
    end = time.monotonic() + 20
    while True:
        with suppress(OSError), socket.create_connection((host, int(port))):
            return
        assert time.monotonic() < end, log.read_text()
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)


def status(front, path, *headers):
    """The status of an answer, which is 101 for a WebSocket that is opened."""
    place = urlsplit(front)
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        lines = [f"GET {path} HTTP/1.1", f"Host: {place.netloc}", *headers, "", ""]
        connection.sendall("\r\n".join(lines).encode())
        return int(connection.recv(12)[9:])


UPGRADE = (
    "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
)  # fmt: skip


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_pages_and_websockets_pass_other_proxies_at_the_root_and_below_a_path(
    name, tmp_path, address, below_a_path
):
    for app, base in ((address, ""), (below_a_path, f"/{BASE}")):
        with proxy(name, tmp_path, app) as front:
            assert status(front, f"{base}/heads?text=The+dog+sings.") == 200
            assert status(front, f"{base}/_stcore/stream", *UPGRADE, f"Origin: {front}") == 101
            for path in ("_stcore/metrics", "_stcore/metric%73", "_stcore%2Fmetrics"):
                assert status(front, f"{base}/{path}") == 404
            place = urlsplit(front)
            with socket.create_connection((place.hostname, place.port), 8) as silent:
                silent.sendall(b"GET / HT")
                assert not silent.recv(99).startswith(b"HTTP/1.1 2")  # it ends, or is refused


def test_the_app_works_behind_both_proxies_below_a_path(browser, tmp_path, below_a_path):
    """One behind the other: what passes both of them passes each, and scripts are loaded once."""
    page = browser.new_page()
    page.set_default_timeout(app_page.PATIENCE)
    failed = []
    page.on("response", lambda r: failed.append(r.url) if r.status > 399 else None)
    inner, outer = tmp_path / "caddy", tmp_path / "nginx"
    inner.mkdir()
    outer.mkdir()
    with proxy("caddy", inner, below_a_path) as caddy, proxy("nginx", outer, caddy) as front:
        site = f"{front}/{BASE}"
        page.goto(f"{site}?text=The+dog+sings.")
        app_page.open_page(page, "All heads")
        page.locator(".st-key-heads-map .hl canvas").first.wait_for()
        app_page.at_rest(page)
        page.locator("[data-copy-link]").first.click()
        link = page.evaluate("navigator.clipboard.readText()")
        assert link.startswith(f"{site}/heads?text=The")
        page.get_by_role("button", name="Save data").click()
        with page.expect_download() as file:
            page.get_by_test_id("stDownloadButton").get_by_role("button").first.click()
        assert file.value.url.startswith(f"{site}/media/")
        assert file.value.path().stat().st_size > 100
        page.close()
    assert failed == []
