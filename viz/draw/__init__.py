"""What the browser draws, without Streamlit: one encoder for each component, and what they share.

`wire` says in which form data travel; `js/` holds the renderers, which know nothing of Streamlit,
so a notebook or a saved page uses them as they are. `viz.app.chrome.mounts` puts them on the
pages of the app.
"""
