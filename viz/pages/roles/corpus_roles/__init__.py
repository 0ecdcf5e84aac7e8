"""The view “Roles”: what each head does, measured on a corpus."""

from viz.pages.roles.corpus_roles.view import show

__all__ = ["show"]
