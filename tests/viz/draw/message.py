"""The form of all messages once more, written from the description in `viz.draw.wire`."""

import base64
import gzip
import json
import struct

import numpy as np


def decode(content):
    """The plain values and the arrays, by name."""
    version, length = struct.unpack_from("<II", content)
    assert version == 1
    header = json.loads(content[8 : 8 + length])
    start = 8 + length + -(8 + length) % 8
    assert len(content) == start + header["size"]
    arrays = {}
    for entry in header["arrays"]:
        dtype = np.dtype(entry["dtype"]).newbyteorder("<")
        count = int(np.prod(entry["shape"]))
        flat = np.frombuffer(content, dtype, count, start + entry["offset"])
        arrays[entry["name"]] = flat.reshape(entry["shape"])
    return header["meta"], arrays


def colors_of(arrays, before=""):
    """Light, then dark."""
    return np.stack([arrays[f"{before}light"], arrays[f"{before}dark"]])


def unpacked_message(text):
    """The plain values and the arrays of a message that a saved page carries as text."""
    return decode(gzip.decompress(base64.b64decode(text)))
