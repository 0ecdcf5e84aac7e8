"""Builders of attention traces: our own model, arrays, outputs of `transformers`, NPZ files."""
