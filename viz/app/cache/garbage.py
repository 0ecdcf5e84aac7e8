"""Garbage collection in the server."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def imports_exempt(_app: object) -> AsyncIterator[None]:
    """Exempt all that was imported before from the search for garbage while the app is served.

    torch and the other libraries have made several hundred thousand objects by then, which live as
    long as the server: 0.2 s for each search of all generations, in which no reader is served.
    These searches are rare, since `.streamlit/config.toml` turns off the one that Streamlit makes
    after every run: Python makes one when a quarter more is there than after the last.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
