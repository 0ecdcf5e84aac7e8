"""The view “Why this word”: what speaks for a piece and for another one."""

from viz.pages.roles.why_this_word.view import show

__all__ = ["show"]
