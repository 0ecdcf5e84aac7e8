"""JupyterLab in a folder of its own, and one of its notebooks in Chromium."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.server import running

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Page

LabTheme = Literal["JupyterLab Light", "JupyterLab Dark"]


def write_notebook(path: Path, cells: Sequence[str]) -> None:
    """A notebook of code cells that have not run."""
    from nbformat import v4, write

    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    code = [v4.new_code_cell(source) for source in cells]
    write(v4.new_notebook(cells=code, metadata={"kernelspec": kernel}), path)


@contextmanager
def lab(folder: Path, home: Path, *, theme: LabTheme = "JupyterLab Light") -> Iterator[str]:
    """JupyterLab as installed, showing a folder; a context manager that gives its address.

    `home` has the settings, and the key by which it knows the notebooks that it saved.
    """
    _write_settings(home, theme)
    places = {
        "HOME": "home",
        "IPYTHONDIR": "ipython",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }
    options = {
        "ServerApp.root_dir": folder,
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": "{port}",
        "ServerApp.allow_root": True,
        "ServerApp.open_browser": False,
        "IdentityProvider.token": "",
    }
    with running(
        ["jupyterlab", *(f"--{name}={value}" for name, value in options.items())],
        health="api",
        log=home / "log",
        environment={name: str(home / place) for name, place in places.items()},
    ) as server:
        yield server.address


def _write_settings(home: Path, theme: LabTheme) -> None:
    """The theme, and no question about news over the notebook."""
    folder = home / "settings" / "@jupyterlab" / "apputils-extension"
    folder.mkdir(parents=True)
    for name, settings in {
        "themes": {"theme": theme},
        "notification": {"fetchNews": "false", "checkForUpdates": False},
    }.items():
        (folder / f"{name}.jupyterlab-settings").write_text(json.dumps(settings), "utf-8")


class Notebook:
    """One notebook open in a fresh browser."""

    def __init__(self, browser: Any, address: str, name: str) -> None:
        self.context = browser.new_context(viewport={"width": 1440, "height": 1000})
        self.page: Page = self.context.new_page()
        self.asked: list[str] = []
        self.faults: list[str] = []
        own = (address, address.replace("http", "ws"), "about:", "data:", "blob:")
        self.page.on(
            "request",
            lambda request: None if request.url.startswith(own) else self.asked.append(request.url),
        )
        self.page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        # a workspace of its own: what another tab has open stays there
        self.page.goto(f"{address}/lab/workspaces/{id(self)}/tree/{name}")
        self.page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=60_000)

    def run_all(self, cells: int) -> None:
        """Run every cell and wait until the last has its number."""
        # cells that are run before the kernel is there are forgotten
        self.page.get_by_text("| Idle").wait_for(timeout=60_000)
        self.menu("Run", "Run All Cells")
        last = self.page.locator(".jp-InputPrompt").nth(cells - 1)
        last.filter(has_text=f"[{cells}]:").wait_for(timeout=120_000)

    def menu(self, name: str, entry: str) -> None:
        """Choose an entry of a menu."""
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        # beside the entry's text stands its key
        self.page.locator(".lm-Menu-itemLabel").get_by_text(entry, exact=True).click()

    def save(self) -> None:
        """Write the notebook to the disk."""
        self.menu("File", "Save Notebook")
        self.page.wait_for_timeout(2000)

    def frames(self) -> list["Frame"]:
        """The pages in the outputs, in their order."""
        contents = []
        for frame in self.page.locator(".jp-OutputArea-output iframe").element_handles():
            frame.scroll_into_view_if_needed()  # JupyterLab makes cells as they come into sight
            content = frame.content_frame()
            if content is not None:
                contents.append(content)
        return contents

    def close(self) -> None:
        """Close the tab and forget the person."""
        self.context.close()
