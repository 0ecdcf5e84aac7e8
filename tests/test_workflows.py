"""Workflows of a push, and the static Space: read here, and run on a bare checkout when asked.

HEADLIGHT_BARE_CHECKOUT=1 .venv/bin/python -m pytest tests/test_workflows.py
"""

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin
from urllib.request import urlopen

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = {
    path.stem: yaml.load(path.read_text("utf-8"), yaml.BaseLoader)  # `on` is a word here
    for path in sorted(ROOT.glob(".github/workflows/*.yml"))
}
SPACE = yaml.safe_load((ROOT / "deploy/static-space/README.md").read_text("utf-8").split("---")[1])
GITHUB = {"cache-control": "max-age=600", "access-control-allow-origin": "*"}


def steps(workflow: str, key: str) -> list[dict[str, Any]]:
    """Return the steps of all jobs that have a key, `run` or `uses`."""
    jobs = WORKFLOWS[workflow]["jobs"].values()
    return [step for job in jobs for step in job["steps"] if key in step]


def test_a_push_publishes_the_site_and_runs_every_check() -> None:
    assert set(WORKFLOWS) == {"ci", "pages"}
    assert WORKFLOWS["pages"]["on"]["push"] == {"branches": ["main"]}
    assert WORKFLOWS["ci"]["on"] == ["push", "pull_request"]
    assert [step["run"] for step in steps("pages", "run")] == ["make site"]
    assert steps("ci", "run")[-1]["run"] == ".ci/run"


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_every_step_is_a_command_that_is_there(workflow: str) -> None:
    for step in steps(workflow, "run"):
        subprocess.run(["bash", "-n", "-c", step["run"]], check=True)
        for line in step["run"].splitlines():
            program, *arguments = line.split()
            if program == "make":
                subprocess.run(["make", "-n", *arguments], cwd=ROOT, check=True)
            elif "/" in program:
                mode = subprocess.check_output(["git", "ls-files", "-s", program], cwd=ROOT)
                assert mode.startswith(b"100755")
    for step in steps(workflow, "uses"):
        assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])  # GitHub's own alone


def test_what_make_writes_is_what_is_published_by_a_job_that_runs_nothing() -> None:
    (upload,) = (s for s in steps("pages", "uses") if "upload-pages-artifact" in s["uses"])
    printed = subprocess.check_output(["make", "-n", "site"], cwd=ROOT, text=True)
    assert f"--out {upload['with']['path']} " in printed
    build, deploy = WORKFLOWS["pages"]["jobs"].values()
    assert deploy["needs"] == "build"
    assert deploy["permissions"] == {"pages": "write", "id-token": "write"}
    assert [*map(list, deploy["steps"])] == [["id", "uses"]]
    for workflow in WORKFLOWS.values():
        assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in build


def test_the_static_space_has_fields_that_the_hub_takes() -> None:
    assert SPACE["sdk"] == "static"
    assert SPACE["app_file"] == "index.html"
    assert len(SPACE["short_description"]) <= 60
    assert {name.removeprefix("cross-origin-") for name in SPACE["custom_headers"]} <= {
        "embedder-policy", "opener-policy", "resource-policy",
    }  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site that the steps of the workflow build in a bare checkout of the last commit."""
    if "HEADLIGHT_BARE_CHECKOUT" not in os.environ:
        pytest.skip("installs everything anew: set HEADLIGHT_BARE_CHECKOUT=1")
    checkout = tmp_path_factory.mktemp("bare") / "headlight"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", ROOT.as_uri(), checkout], check=True)
    for step in steps("pages", "run"):
        subprocess.run(["bash", "-e", "-c", step["run"]], cwd=checkout, check=True)
    return checkout / "build/site"


@contextmanager
def hosted(site: Path, headers: dict[str, str]) -> Iterator[str]:
    """Serve a folder below a path, as GitHub Pages does, and give its address."""

    class Handler(SimpleHTTPRequestHandler):
        def translate_path(self, path: str) -> str:
            prefix, below, rest = path.partition("/headlight/")
            return super().translate_path(f"/{rest}" if below and not prefix else "/missing")

        def end_headers(self) -> None:
            for header in headers.items():
                self.send_header(*header)
            super().end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/headlight/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Addresses(HTMLParser):
    """Every address in a page, with the tag that names it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.named: set[tuple[str, str]] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.named |= {(tag, value or "") for name, value in attrs if name in ("href", "src")}


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("headers", [GITHUB, SPACE["custom_headers"]], ids=["pages", "space"])
def test_the_built_site_works_below_a_path_of_its_host(site: Path, headers: dict) -> None:
    from playwright.sync_api import sync_playwright

    from tests.kit import QUIET

    asked = set()
    with hosted(site, headers) as base, sync_playwright() as playwright:
        for path in site.rglob("*.html"):
            page = urljoin(base, str(path.relative_to(site)))
            for tag, address in Addresses(path.read_text("utf-8")).named:
                target = urldefrag(urljoin(page, address)).url
                if address.startswith(("data:", "mailto:")):
                    continue
                assert target.startswith(base) or (tag == "a" and "://" in address), address
                if target.startswith(base) and target not in asked:
                    asked.add(target)
                    with urlopen(target) as answer:
                        answer.read()
        assert len(asked) > 50
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        tab, faults = browser.new_page(), []
        tab.on("console", lambda message: faults.append((message.text, message.location["url"])))
        tab.on("pageerror", lambda error: faults.append((str(error), "")))
        for page in ("", "en-1.html", "lesson-attention.html", "docs/index.html"):
            tab.goto(base + page, wait_until="networkidle")
            assert tab.locator("canvas, svg, iframe").count() > 0
        browser.close()
    # the only file that no page names
    assert [fault for fault in faults if not fault[1].endswith("/favicon.ico")] == []
