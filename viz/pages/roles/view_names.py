"""The views of the page as the screen and the URL name them."""

from __future__ import annotations

VIEW = "roles_view"
"""Name in the URL of the choice among them."""

ROLES, TAKE_AWAY = "Roles", "Take away"
WHY, LAYERS, FAITHFUL = "Why this word", "Layer by layer", "Faithful?"
