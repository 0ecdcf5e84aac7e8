"""Explorers of a notebook beside BertViz."""
