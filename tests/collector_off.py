"""Turns the search for garbage off where it is imported: first of what the fork server loads."""

import gc

gc.disable()
