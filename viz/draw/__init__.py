"""Attention drawn in the browser: every head small, one head large, some heads as ribbons.

The drawing is in JavaScript modules that know nothing of Streamlit, so a notebook or a saved page
can use them as they are: `bundle.script(...)` gives one as text, `packet` gives it its data. Only
`grid`, `maps` and `views` mount them in Streamlit; nothing is imported here, so that a figure in a
notebook needs none of it.
"""
