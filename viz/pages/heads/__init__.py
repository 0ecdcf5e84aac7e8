"""The Heads page and all its parts."""

from viz.pages.heads.page import show

__all__ = ["show"]
