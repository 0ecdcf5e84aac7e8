"""Turns the search for garbage on again, for what comes after the imports alone.

A search writes to what it looks at, and each process of the fork server would copy all of it.
"""

import gc

gc.freeze()
gc.enable()
