"""Shared parts of all commands: running one, types of arguments, standard input."""
