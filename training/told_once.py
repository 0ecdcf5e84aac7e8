"""Messages that one process logs for all processes of a run."""

from __future__ import annotations

import hashlib

from torch import distributed
from torch.distributed.distributed_c10d import _get_default_store


def is_first_to_tell(sentence: str) -> bool:
    """Return whether no other process of the run has logged the same sentence.

    No process waits for another: one may be wrong alone.
    """
    if not distributed.is_initialized():
        return True
    key = "told/" + hashlib.sha256(sentence.encode("utf-8", "surrogateescape")).hexdigest()
    try:
        return bool(_get_default_store().add(key, 1) == 1)
    except RuntimeError:  # whoever holds the store is gone: twice is better than never
        return True
