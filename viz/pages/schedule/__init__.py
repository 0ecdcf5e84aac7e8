"""The Schedule page and all its parts."""

from viz.pages.schedule.page import TITLE, show

__all__ = ["TITLE", "show"]
