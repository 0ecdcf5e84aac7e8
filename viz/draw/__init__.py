"""Encoders of all browser pictures, without Streamlit: one for each component."""
