"""The page “Why self-attention”: Table 1 as formulas, as curves, and as measured."""

from viz.pages.self_attention import costs


def show() -> None:
    """Draw the page."""
    costs.show()
