"""Encoders of everything that the browser draws, without Streamlit: one for each component.

`wire` says in which form data travel; `js/` holds the renderers, which know nothing of Streamlit,
so a notebook or a saved page uses them as they are. `viz.app.chrome.mounts` puts them on the
pages of the app.
"""
