"""The address of a view, links from page to page."""
