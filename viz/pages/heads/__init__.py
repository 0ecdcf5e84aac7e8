"""The Heads page and all its parts."""

from viz.pages.heads.page import PAGE

__all__ = ["PAGE"]
