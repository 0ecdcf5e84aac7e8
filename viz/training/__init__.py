"""Parts of the Training page."""
