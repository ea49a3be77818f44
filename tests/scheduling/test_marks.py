"""Marks of loops as text in a schedule tree: every field comes back, and others' marks are left alone."""

from __future__ import annotations

from dataclasses import fields

import pytest

from polysched.scheduling.marks import Copy, Gaps, LoopMark, Role

COPY = Copy(array="B", in_lanes=True, extents=(3, 256, 32), references=("S0_r2", "S1_r0"))
ODD = Copy(array="p->b c:d+e,f", in_lanes=False, extents=(8,), references=("S 0", "S+1"))
FULL = LoopMark(role=Role.POINT, band=3, member=2, parallel=True, simd=True, unroll=8, least_iterations=64,
                least_work=16384, register=True, pieces=4, gaps=Gaps.CROSSINGS, strip=32, in_place=True,
                packs_few=True, growing=True,
                copies=(COPY, ODD))


@pytest.mark.parametrize("field", [f.name for f in fields(LoopMark)])
def test_each_field_comes_back(field: str) -> None:
    default = LoopMark()
    mark = LoopMark(**{field: getattr(FULL, field)})
    assert mark != default, "the example differs from the default"
    assert LoopMark.from_text(mark.to_text()) == mark


def test_all_fields_together() -> None:
    assert LoopMark.from_text(FULL.to_text()) == FULL
    assert LoopMark().to_text() == "polysched role=loop"
    assert LoopMark(role=Role.TILE, member=1, parallel=True).to_text() == "polysched role=tile member=1 parallel=1"


@pytest.mark.parametrize("text", ["", "somebody role=tile", "polyschedrole=tile"])
def test_other_marks_are_somebody_elses(text: str) -> None:
    assert LoopMark.from_text(text) is None


@pytest.mark.parametrize("text", ["polysched role=corner", "polysched band=two", "polysched parallel"])
def test_what_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        LoopMark.from_text(text)


def test_copies_are_words_whatever_arrays_are_called() -> None:
    assert COPY.to_text() == "B:lanes:3x256x32:S0_r2+S1_r0"
    assert COPY.elements == 3 * 256 * 32
    for copy in (COPY, ODD):
        assert Copy.from_text(copy.to_text()) == copy
        assert " " not in copy.to_text()
        assert "," not in copy.to_text()
