"""The page “Hooks”: the hook points of a layer, with the values of the reader's sentence."""


def show() -> None:
    """Draw the page."""
