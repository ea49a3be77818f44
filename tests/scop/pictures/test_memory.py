"""Pictures of memory: elements, lines and shares counted by hand."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from polysched.errors import UsageError
from polysched.scop.picture import Turn
from polysched.scop.pictures.memory import BOTH, FETCHED, READ, WRITTEN, Memory, MemoryPicture, Touched

A = Memory(name="A", elements=15, columns=5, element_bytes=8, line_bytes=32)
PICTURE = MemoryPicture(
    arrays=(A,), shown=0, turns={0: Turn(0), 1: Turn(1)},
    tiles={0: Touched(reads={"A": frozenset({0, 1})}, writes={"A": frozenset({1, 2})}),
           1: Touched(reads={}, writes={"A": frozenset({14})})})


def test_lines_and_their_elements() -> None:
    assert A.rows == 3
    assert [A.line(e) for e in (0, 3, 4, 14)] == [0, 0, 1, 3]
    assert list(A.elements_of(1)) == [4, 5, 6, 7]
    assert list(A.elements_of(3)) == [12, 13, 14]
    wide = Memory(name="W", elements=3, columns=3, element_bytes=16, line_bytes=24)
    assert [list(wide.elements_of(line)) for line in range(2)] == [[0, 1], [2]]


def test_what_is_said_of_a_tile() -> None:
    assert PICTURE.said(0) == ["A: 3 elements in 1 line of 32 bytes, 75% of their bytes used"]
    assert PICTURE.said(1) == ["A: 1 elements in 1 line of 32 bytes, 33% of their bytes used"], "the last line is short"
    assert str(PICTURE.of(1)).startswith("tile 1 of 2\n")
    with pytest.raises(UsageError, match="no tile 7"):
        PICTURE.of(7)


def test_the_colours_of_elements() -> None:
    cells = [r.get("fill") for r in ElementTree.fromstring(PICTURE.svg).iter() if r.get("data-element")]
    assert cells[:5] == [READ, BOTH, WRITTEN, FETCHED, "#fff"]


def test_the_page_has_a_frame_per_tile() -> None:
    found = re.search(r"const data = (.*);\n", PICTURE.page)
    assert found
    frames = json.loads(found.group(1))["frames"]
    assert [f["tile"] for f in frames] == [0, 1]
    assert frames[0]["reads"] == ["A:0", "A:1"]
    assert frames[1]["lines"] == ["A:3"]
