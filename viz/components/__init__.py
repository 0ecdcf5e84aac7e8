"""Attention drawn in the browser: every head small, one head large.

The drawing is in JavaScript modules that know nothing of Streamlit, so a notebook or a saved page
can use them as they are: `bundle.script(...)` gives one as text, `packet` gives it its data.
"""

from viz.components.grid import head_grid
from viz.components.maps import attention_map

__all__ = ["attention_map", "head_grid"]
