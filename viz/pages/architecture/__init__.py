"""The Architecture page and all its parts."""

from viz.pages.architecture.page import TITLE, show

__all__ = ["TITLE", "show"]
