"""Model files whose long constants are read straight into arrays: protobuf would copy each of them twice.

A file is walked field by field; the bytes of a long constant are left out of the message that is parsed, with a word in
their place that no file can know.  A file that does not read as expected is left to protobuf.

Source: the protobuf encoding (protobuf.dev/programming-guides/encoding), and the numbers of fields in onnx.proto.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import field
from io import BufferedReader
from pathlib import Path

import numpy as np

from polysched.graph.limits import LIMITS
from polysched.records import dataclass

GRAPH, INITIALIZER, DATA_TYPE, SEGMENT, RAW_DATA = 7, 5, 2, 3, 9
"""Fields of `ModelProto`, `GraphProto`, and `TensorProto`."""
VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5
"""Wire types."""
PLAIN = frozenset((1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13))
"""Element types of `TensorProto` of whole bytes that NumPy has."""


class _NotAsExpectedError(Exception):
    """The file is none, or says its lengths otherwise."""


@dataclass(frozen=True)
class _Field:
    """A field: its number, its tag as it stands there, and where its payload is; behind a length for some."""

    number: int
    wire: int
    tag: bytes
    start: int
    end: int
    value: int


@dataclass(eq=False)
class Apart:
    """A file as a message without its long constants, and those.

    Parameters
    ----------
    message : what is parsed.
    arrays : bytes by the word that stands for them.
    """

    message: bytes
    arrays: dict[bytes, np.ndarray] = field(default_factory=dict)


def read_apart(path: Path) -> Apart:
    """A file, its long constants apart where there are any.

    Raises
    ------
    OSError : it cannot be read.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size >= LIMITS.least_apart:
            walk = _Walk(file)
            try:
                return Apart(walk.model(size), walk.arrays)
            except (_NotAsExpectedError, MemoryError):
                file.seek(0)
        return Apart(file.read())


class _Walk:
    """Goes through a file from the front."""

    def __init__(self, file: BufferedReader) -> None:
        self.file, self.arrays = file, dict[bytes, np.ndarray]()
        self.word, self.walked = secrets.token_bytes(32), 0

    def model(self, size: int) -> bytes:
        """The message without what is long in its graphs' constants."""
        return b"".join(self.nested(f, self.graph) if f.number == GRAPH else self.whole(f)
                        for f in self.fields(0, size))

    def graph(self, start: int, end: int) -> bytes:
        """A graph."""
        return b"".join(self.nested(f, self.tensor) if f.number == INITIALIZER else self.whole(f)
                        for f in self.fields(start, end))

    def tensor(self, start: int, end: int) -> bytes:
        """A constant: its bytes stand apart where they are many and it says them once."""
        fields = list(self.fields(start, end)) if end - start >= LIMITS.least_apart else []
        raw = [f for f in fields if f.number == RAW_DATA]
        kinds = [f.value for f in fields if f.number == DATA_TYPE]
        if len(raw) != 1 or len(kinds) != 1 or kinds[0] not in PLAIN or raw[0].end - raw[0].start < LIMITS.least_apart \
                or any(f.number == SEGMENT for f in fields):
            return self.read(start, end)
        array = np.empty(raw[0].end - raw[0].start, np.uint8)
        self.file.seek(raw[0].start)
        if self.file.readinto(array.data) != array.size:
            raise _NotAsExpectedError
        array.flags.writeable = False
        word = self.word + len(self.arrays).to_bytes(8, "little")
        self.arrays[word] = array
        return b"".join(f.tag + _varint(len(word)) + word if f is raw[0] else self.whole(f) for f in fields)

    def nested(self, own: _Field, inner: Callable[[int, int], bytes]) -> bytes:
        """A field that is a message, with another content."""
        if own.wire != DELIMITED:
            raise _NotAsExpectedError
        content = inner(own.start, own.end)
        return own.tag + _varint(len(content)) + content

    def whole(self, own: _Field) -> bytes:
        """A field as it is."""
        length = _varint(own.end - own.start) if own.wire == DELIMITED else b""
        return own.tag + length + self.read(own.start, own.end)

    def read(self, start: int, end: int) -> bytes:
        """A part of the file."""
        self.file.seek(start)
        found = self.file.read(end - start)
        if len(found) != end - start:
            raise _NotAsExpectedError
        return found

    def fields(self, start: int, end: int) -> Iterator[_Field]:
        """The fields of a message."""
        while start < end:
            self.walked += 1
            self.file.seek(start)
            head = self.file.read(min(end - start, 20))   # a tag and a length have 10 bytes at most
            tag, place = _read_varint(head, 0)
            wire, value = tag & 7, 0
            if wire == VARINT:
                value, behind = _read_varint(head, place)
                span = (place, behind)
            elif wire == DELIMITED:
                length, behind = _read_varint(head, place)
                if _varint(length) != head[place:behind]:
                    raise _NotAsExpectedError   # `whole` writes the shortest form
                span = (behind, behind + length)
            elif wire in (FIXED32, FIXED64):
                span = (place, place + (4 if wire == FIXED32 else 8))
            else:
                raise _NotAsExpectedError
            if not tag >> 3 or start + span[1] > end or self.walked > LIMITS.most_fields:
                raise _NotAsExpectedError
            yield _Field(tag >> 3, wire, head[:place], start + span[0], start + span[1], value)
            start += span[1]


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = 0
    for count, byte in enumerate(data[place:place + 10]):
        value |= (byte & 127) << 7 * count
        if byte < 128:
            return value, place + count + 1
    raise _NotAsExpectedError


def _varint(value: int) -> bytes:
    """A number of variable length."""
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes((*parts, value))
