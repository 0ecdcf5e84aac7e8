"""The Schedule page and all its parts."""

from viz.pages.schedule.page import show

__all__ = ["show"]
