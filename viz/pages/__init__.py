"""One package for each page of the app; each has a `show()` that draws the page."""
