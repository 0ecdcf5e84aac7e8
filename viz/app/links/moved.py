"""Views that are pages of their own now, whose links open these, and views that are gone."""

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, urlencode

_VIEW = "arch_view"  # name in the address of the choice among the views of Figure 1
_PAGES = {
    ("architecture", "computation and memory"): "self_attention",
    ("architecture", "tables 2 and 3"): "tables",
}

_GONE = {
    "Faithful?": "The view Faithful? has left the app: headlight evaluate faithfulness tests how "
    "well lenses find the words that matter.",
}


def farewell(view: str | None) -> str:
    """Say in one sentence where a view went that a link names; "" for any other."""
    return _GONE.get(view or "", "")


def page_of(path: str, choices: Mapping[str, str | Sequence[str]]) -> str:
    """Return the path of the page that a link to `path` opens today."""
    view = choices.get(_VIEW, "")
    return _PAGES.get((path, view if isinstance(view, str) else "".join(view[-1:])), path)


def address_of(path: str, query: str) -> str | None:
    """Return the address of a view that has moved, as path and query; None for any other."""
    choices = parse_qs(query.removeprefix("linked=&"), keep_blank_values=True)
    if (page := page_of(path, choices)) == path:
        return None
    return f"{page}?{urlencode({n: v for n, v in choices.items() if n != _VIEW}, doseq=True)}"
