"""The Heads page and all its parts."""

from viz.pages.heads.page import TITLE, show

__all__ = ["TITLE", "show"]
