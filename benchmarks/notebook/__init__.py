"""Explorers of a notebook beside BertViz, and in a JupyterLab."""
