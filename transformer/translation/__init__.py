"""The translation of a text: loaded model, search, batch, score, result."""
