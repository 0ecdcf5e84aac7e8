"""From arrays to what a person sees."""

from transformer.cli import startup

startup.begin_module()
