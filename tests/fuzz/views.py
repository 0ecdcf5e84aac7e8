"""The addresses of all views of the app, by the pages that declare them."""

from collections.abc import Iterator, Mapping
from importlib import import_module

from viz.draw.labels import PAGE_TITLES

FURTHER: dict[str, tuple[dict[str, str], ...]] = {
    "heads": (
        {"view": "step by step"},
        {"view": "compare"},
        {"view": "compare", "with": "another sentence"},
    ),
    "roles": tuple(
        {"roles_view": "Remove heads", "removed_how": how} for how in ("painted", "patched z")
    ),
    "figure2": ({"figure2_open": "masked"},),
    "hooks": ({"hooks_box": "Masked self-attention of the decoder", "hook": "attn_scores"},),
}
"""By the path of its page: choices within a view that draw another picture."""


def _views(path: str) -> Iterator[Mapping[str, str]]:
    yield {}  # the first one
    page = getattr(import_module(f"viz.pages.{path}"), "PAGE", None)
    if page and page.menu:
        yield from ({page.menu: view.key} for view in page.views[1:])
    yield from FURTHER.get(path, ())


VIEWS: dict[str, tuple[Mapping[str, str], ...]] = {
    path: tuple(_views(path)) for path in PAGE_TITLES
}
"""By the path of its page: the parameters that open each view."""
