"""Outlines of sets of points: areas and volumes by hand, shared borders, and sets that are no polyhedra."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.scop.pictures.polytopes import HalfSpace, clipped, faces, half_spaces, outline


def spaces(text: str) -> tuple[HalfSpace, ...]:
    found = half_spaces(isl.BasicSet(text))
    assert found is not None
    return found


def area(polygon: tuple[tuple[float, ...], ...]) -> float:
    pairs = zip(polygon, polygon[1:] + polygon[:1], strict=True)
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs)) / 2


@pytest.mark.parametrize(("text", "size"), [
    ("{ [i, j] : 0 <= i < 4 and 0 <= j < 3 }", 12.0),
    ("{ [i, j] : i = 2 and 0 <= j < 5 }", 5.0),
    ("{ [i, j] : i = 2 and j = 7 }", 1.0),
    ("{ [i, j] : 0 <= i + j < 4 and 0 <= i - j < 4 }", 8.0),
])
def test_an_outline_covers_as_much_as_its_points(text: str, size: float) -> None:
    assert area(outline(spaces(text))) == pytest.approx(size)


def test_neighbours_share_a_border() -> None:
    left, right = (outline(spaces(f"{{ [t, i] : {4 * k} <= t + i <= {4 * k + 3} and 0 <= t < 4 }}")) for k in (0, 1))
    shared = {tuple(round(x, 6) for x in c) for c in left} & {tuple(round(x, 6) for x in c) for c in right}
    assert len(shared) == 2


def test_what_leaves_no_area_has_no_outline() -> None:
    assert outline((HalfSpace((1.0, 0.0), 0.0), HalfSpace((-1.0, 0.0), -1.0))) == ()
    assert clipped((), HalfSpace((1.0, 0.0), 0.0)) == ()


def test_a_set_with_a_division_is_no_polyhedron() -> None:
    assert half_spaces(isl.BasicSet("{ [i] : exists k : i = 2k and 0 <= i < 9 }")) is None


def test_a_box_has_six_faces_and_a_simplex_four() -> None:
    box = faces(spaces("{ [i, j, k] : 0 <= i < 2 and 0 <= j < 3 and 0 <= k < 4 }"))
    assert sorted(len(face) for face in box) == [4] * 6
    assert {corner for face in box for corner in (tuple(round(x, 4) for x in c) for c in face)} == {
        (x, y, z) for x in (-0.5, 1.5) for y in (-0.5, 2.5) for z in (-0.5, 3.5)}
    assert [len(face) for face in faces(spaces("{ [i, j, k] : i, j, k >= 0 and i + j + k <= 3 }"))] == [3] * 4
