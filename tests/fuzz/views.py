"""The addresses of all views of the app."""

from collections.abc import Iterator, Mapping
from importlib import import_module

from viz.app.view import Page
from viz.draw.labels import PAGE_TITLES

PAGES: list[Page] = [import_module(f"viz.pages.{path}").PAGE for path in PAGE_TITLES]

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


VIEWS: dict[str, tuple[Mapping[str, str], ...]] = {
    page.path: (*addresses(page), *FURTHER.get(page.path, ()))
    for page in PAGES
    if page.path != "corpus"  # whose lines are measured first
}
"""By the path of its page: the parameters that open each view."""
