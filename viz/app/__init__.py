"""The Streamlit shell that all pages share."""
