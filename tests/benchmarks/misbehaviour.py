"""A task for another process; imports nothing that takes time."""

import os
import time


def misbehave(kind: str) -> str:
    """Do what it is told, be it to raise, die, hang or fill the memory."""
    if kind == "raise":
        raise KeyError("not ours")
    if kind == "die":
        os._exit(7)
    if kind == "hang":
        time.sleep(60)
    if kind == "fill":
        return str(len(bytes(8 * 2**30)))
    return kind
