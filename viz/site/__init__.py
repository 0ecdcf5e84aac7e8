"""A site for any static host: a page with the model in it, and a lesson."""
