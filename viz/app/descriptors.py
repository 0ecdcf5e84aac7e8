"""File descriptors of the process, which bound its connections and its open tabs."""

import sys

if sys.platform != "win32":  # which has no such limit
    import resource

MOST, RESERVE = 16_000, 128
"""Descriptors that are used for people, and those that are left for files."""

TAB = 4
"""Descriptors of an open tab: its WebSocket, and Streamlit's event loop for it."""


def raise_limit() -> None:
    """Raise this process's limit of descriptors to the largest useful or allowed number."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST + RESERVE if hard == resource.RLIM_INFINITY else min(MOST + RESERVE, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_descriptors() -> int:
    """Return the number of descriptors for connections."""
    if sys.platform == "win32":
        return MOST
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, max(soft - RESERVE, 16))
