"""Analyses of a trace or a model, by hooks of the context; nothing here draws."""
