"""The page “Figure 2”: scaled dot-product attention and multi-head attention."""


def show() -> None:
    """Draw the page."""
