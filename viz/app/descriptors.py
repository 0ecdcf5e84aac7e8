"""File descriptors of the process, which bound its connections and its open tabs."""

import sys

if sys.platform != "win32":  # which has no such limit
    import resource

MOST, RESERVE = 16_000, 128
"""Descriptors that are used for people, and those that are left for files."""

TAB = 4
"""Descriptors of an open tab: its WebSocket, and the event loop that Streamlit makes for it."""


def raise_limit() -> None:
    """Allow this process as many descriptors as are used, or as it may have."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST + RESERVE if hard == resource.RLIM_INFINITY else min(MOST + RESERVE, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_descriptors() -> int:
    """Return how many descriptors there are for people."""
    if sys.platform == "win32":
        return MOST
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, max(soft - RESERVE, 16))
