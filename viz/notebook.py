"""A trace that shows itself in a notebook: `import viz.notebook`, then write `trace` in a cell."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from transformer.trace import AttentionTrace
from viz.report import PageTheme, View, report

if TYPE_CHECKING:
    from viz.draw.head_grid import Head


@dataclass(frozen=True)
class Shown:
    """A page in a frame of its own, so that its styles and the notebook's never meet.

    Args:
        page: a complete HTML page.
    """

    page: str

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.page)}" title="Attention heads" '
            'style="width:100%;height:60rem;border:0"></iframe>'
        )


def show(
    trace: AttentionTrace,
    *,
    selected: Head = ("cross", 0, 0),
    words: bool = False,
    special: bool = True,
    theme: PageTheme = "light",
) -> Shown:
    """All heads of a trace, one of them open, as the last value of a notebook's cell.

    Args:
        selected: kind, layer and head, from 0, that is open first.
        words: whole words instead of pieces.
        special: whether `<s>` and `</s>` are shown.
        theme: auto follows the reader's system, which a notebook need not do.

    Raises:
        InputError: if there is no such head, or no token is left to show.
    """
    view = View(*selected, words=words, special=special)
    return Shown(report(trace, view, theme=theme))


def enable() -> bool:
    """Let each trace show itself in this notebook.

    Returns:
        Whether this runs in IPython at all.
    """
    # whoever runs IPython has imported it; nobody else needs to have it
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        return False
    formatter = shell.display_formatter.formatters["text/html"]
    formatter.for_type(AttentionTrace, lambda trace: show(trace)._repr_html_())
    return True


enable()
