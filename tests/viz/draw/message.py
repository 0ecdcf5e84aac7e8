"""The form of all messages once more, written from the description in `viz.draw.wire`."""

import base64
import gzip
import json
import struct

import numpy as np


def decode(content):
    """The message with its arrays in their places, and those of its own by name."""
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
        return {name: placed(part) for name, part in value.items()}

    message = placed(header["message"])
    own = {name: value for name, value in message.items() if isinstance(value, np.ndarray)}
    return message, own


def unpacked_message(text):
    """The message that a saved page carries as text."""
    return decode(gzip.decompress(base64.b64decode(text)))[0]
