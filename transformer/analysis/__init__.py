"""Analyses of a trace or a model, by hooks of the context; nothing here draws.

They say where a head looked and what changed without it, never why the model decided (Jain &
Wallace 2019, Wiegreffe & Pinter 2019).
"""
