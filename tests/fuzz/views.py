"""The addresses of all views of the app."""

from collections.abc import Iterator, Mapping
from importlib import import_module

from viz.app.view import Page
from viz.draw.labels import PAGE_TITLES

MODULES = {path: import_module(f"viz.pages.{path}") for path in PAGE_TITLES}
PAGES: list[Page] = [module.PAGE for module in MODULES.values() if hasattr(module, "PAGE")]

FURTHER: dict[str, tuple[Mapping[str, str], ...]] = {
    "heads": (
        {"view": "step by step"},
        {"view": "compare"},
        {"view": "compare", "with": "another sentence"},
    ),
    "roles": (
        *({"roles_view": "Remove heads", "removed_how": how} for how in ("painted", "patched z")),
    ),
    "figure2": ({"figure2_open": "masked"},),
    "hooks": ({"hooks_box": "Masked self-attention of the decoder", "hook": "attn_scores"},),
}
"""Choices with which a view draws something else."""


def addresses(page: Page) -> Iterator[dict[str, str]]:
    """Return the parameters that open each view of a page."""
    for view in page.views:
        yield {page.menu: view.key} if page.menu else {}


OPENED = {path: ({},) for path in PAGE_TITLES} | {page.path: (*addresses(page),) for page in PAGES}
VIEWS: dict[str, tuple[Mapping[str, str], ...]] = {
    path: (*views, *FURTHER.get(path, ()))
    for path, views in OPENED.items()
    if path != "corpus"  # whose lines are measured first
}
"""By the path of its page: the parameters that open each view."""
