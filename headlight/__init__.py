"""The command `headlight`, and what its pages load in the browser."""

__version__ = "0.1.0"
