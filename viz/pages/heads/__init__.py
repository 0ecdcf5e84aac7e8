"""The Heads page and all its parts."""

from viz.pages.heads.page import PAGE

show = PAGE.show
__all__ = ["PAGE", "show"]
