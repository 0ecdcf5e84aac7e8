"""Attributes that keyboards and screen readers need, which Sphinx and its theme leave out."""

from typing import Any

from sphinx.application import Sphinx

_ATTRIBUTES = {
    '<p class="caption" role="heading"': '<p class="caption" role="heading" aria-level="2"',
    # what is scrolled sideways can be scrolled by the arrow keys
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
}


def _add(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    for part in ("body", "furo_navigation_tree"):
        for without, attributed in _ATTRIBUTES.items():
            context[part] = context.get(part, "").replace(without, attributed)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the attributes to each page, after the theme has made its navigation."""
    app.connect("html-page-context", _add, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
