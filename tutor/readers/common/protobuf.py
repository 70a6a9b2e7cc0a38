"""The fields of a protobuf message, as the wire has them: enough to read two formats without their schemas.

Source: https://protobuf.dev/programming-guides/encoding/
"""

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

Field = tuple[int, int | bytes]


def fields(message: bytes) -> Iterator[Field]:
    """Number and value of each field, in order; a number without sign, or bytes.

    Raises:
        ValueError: it is no whole message.
    """
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if wire == _BYTES:
            size, at = _varint(message, at)
        elif wire in (_FIXED32, _FIXED64):
            size = 4 if wire == _FIXED32 else 8
        else:
            raise ValueError(f"wire type {wire}")
        if at + size > len(message):
            raise ValueError("cut")
        yield number, message[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("a number without an end")
