"""The command line of Headlight, and what its pages load in the browser."""
