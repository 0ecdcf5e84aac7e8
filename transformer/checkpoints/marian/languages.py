"""The languages of a MarianMT folder, as far as it or its name says them."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from transformer.checkpoints.marian.config import read_json
from transformer.text.languages import Languages, name_of

TOKENIZER_CONFIG = "tokenizer_config.json"
_PAIR = re.compile(r"opus-mt-(?:tc-\w+-)?(\w+)-(\w+)")  # one of the hub's names


def read_languages(folder: Path, codes: tuple[str, ...], digest: hashlib._Hash) -> Languages:
    """Read the languages of `tokenizer_config.json`, else of the folder's name.

    Args:
        folder: the folder of the model.
        codes: of the target languages, of a model that has several.
        digest: checksum that takes in what is read.

    Raises:
        CheckpointError: if the file is there and is no JSON.
    """
    stated = _stated(folder, digest)
    named = next((m.groups() for part in reversed(folder.absolute().parts)
                  if (m := _PAIR.search(part))), ("", ""))  # fmt: skip
    source, target = (
        next(filter(None, map(_language_name, known)), "")
        for known in zip(stated, named, strict=True)
    )
    return Languages(source, "" if len(codes) > 1 else target, codes)


def _language_name(code: str) -> str | None:
    """Return the name of a language by its code; None for a group such as `cat_oci_spa`."""
    first, *more = code.split("_")
    is_region = len(more) == 1 and len(more[0]) == 2  # `pt_br` is of Brazil, not Breton, too
    several = not is_region and any(part.islower() and name_of(part) for part in more)
    return None if several else name_of(first)


def _stated(folder: Path, digest: hashlib._Hash) -> tuple[str, str]:
    path = folder / TOKENIZER_CONFIG
    values = read_json(path, digest) if path.exists() else None
    if not isinstance(values, dict):
        return "", ""
    source, target = (values.get(f"{side}_lang") for side in ("source", "target"))
    return source if isinstance(source, str) else "", target if isinstance(target, str) else ""
