"""Encoders of everything that the browser draws, without Streamlit: one for each component."""
