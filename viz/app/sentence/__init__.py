"""The sentence bar: source, translation, and the request to the search."""
