"""The form of all messages once more, written from the description in `viz.draw.wire`."""

import base64
import gzip
import json
import struct

import numpy as np

from transformer.kinds import ROWS, Row
from transformer.text.languages import Languages
from viz.draw.labels import axis_titles, browser_tokens, decoder_rows


def words_of(axes):
    """Return the words along axes, by Python's labels; `tests/js/test_from_trace` compares."""
    kind, languages = axes["kind"], Languages(*axes["languages"])
    queries, keys, reads, writes = (axes[n] for n in ("queries", "keys", "reads", "writes"))
    row: Row | None = "reads" if axes["byRead"] or writes else "writes" if reads else None
    titles = axis_titles(kind, languages, row=row, alone=axes["alone"])
    names = {"kind": kind, "queries": browser_tokens(queries), "keys": browser_tokens(keys)}
    words: dict[str, object] = {**titles._asdict(), **names, "rowNames": None, "both": None}
    if sides := (reads or writes) and [reads or queries, writes or queries]:
        rows = [axis_titles(kind, languages, row=row).rows for row in ROWS]
        both: dict[str, list[str]] = dict(zip(ROWS, map(browser_tokens, sides), strict=True))
        words["rowNames"], words["both"] = decoder_rows(*sides), {"titles": rows, **both}
    return words


def decode(content):
    """The message with its arrays in their places, and those of its own by name.

    Where it has axes, it has their words, too.
    """
    version, length = struct.unpack_from("<II", content)
    assert version == 2
    header = json.loads(content[8 : 8 + length])
    start = 8 + length + -(8 + length) % 8
    arrays = []
    for entry in header["arrays"]:
        dtype = np.dtype(entry["dtype"]).newbyteorder("<")
        flat = np.frombuffer(content, dtype, int(np.prod(entry["shape"])), start)
        arrays.append(flat.reshape(entry["shape"]))
        start += flat.nbytes + -flat.nbytes % 8
    assert len(content) == start

    def placed(value):
        if isinstance(value, list):
            return [placed(part) for part in value]
        if not isinstance(value, dict):
            return value
        if "$array" in value:
            return arrays[value["$array"]]
        if "$message" in value:
            return decode(arrays[value["$message"]].tobytes())[0]
        value = {name: placed(part) for name, part in value.items()}
        return {**words_of(value["axes"]), **value} if "axes" in value else value

    message = placed(header["message"])
    own = {name: value for name, value in message.items() if isinstance(value, np.ndarray)}
    return message, own


def unpacked_message(text):
    """The message that a saved page carries as text."""
    return decode(gzip.decompress(base64.b64decode(text)))[0]
