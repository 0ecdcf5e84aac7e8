"""From arrays to pictures on the screen."""

from transformer.cli import startup

startup.begin_module()
startup.require_home()
