"""The page “Additive or dot-product”: the two attention functions of the paper, compared."""


def show() -> None:
    """Draw the page."""
