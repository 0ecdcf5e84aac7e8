"""Turns the search for garbage on again, for what comes after the imports alone.

A search writes to the objects that it looks at, and each process of the fork server would copy them.
"""

import gc

gc.freeze()
gc.enable()
