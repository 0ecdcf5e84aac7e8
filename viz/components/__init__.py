"""Attention drawn in the browser: every head small, one head large, some heads as ribbons.

The drawing is in JavaScript modules that know nothing of Streamlit, so a notebook or a saved page
can use them as they are: `bundle.script(...)` gives one as text, `packet` gives it its data.
"""

from viz.components.grid import GridPart, head_grid
from viz.components.maps import attention_map
from viz.components.views import head_view

__all__ = ["GridPart", "attention_map", "head_grid", "head_view"]
