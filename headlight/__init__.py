"""The command `headlight`: everything that Headlight does, by name, in any folder."""

__version__ = "0.1.0"
