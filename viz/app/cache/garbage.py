"""Garbage collection in the server."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def imports_exempt(_app: object) -> AsyncIterator[None]:
    """While the app is served, what was imported before is not searched for garbage.

    Streamlit searches everything after every run of a page. torch and the other libraries have made
    several hundred thousand objects by then, which live as long as the server: 0.2 s a run, in
    which no other reader is served.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
