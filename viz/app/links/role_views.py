"""The views of the page “What heads do” as the screen and the URL name them.

They stand here because links from other pages name them, too.
"""

from __future__ import annotations

VIEW = "roles_view"
"""Name in the URL of the choice among them."""

ROLES, TAKE_AWAY = "Roles", "Take away"
WHY, LAYERS, FAITHFUL = "Why this word", "Layer by layer", "Faithful?"

REMOVED = "removed"
"""Name in the URL of the heads that the view “Take away” takes away."""
