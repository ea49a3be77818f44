"""Solids of programs: every instance and dependence of a cube, tiles as bodies, and what cannot be drawn."""

from __future__ import annotations

import functools
import itertools

import pytest

from polysched.dependence import Dependences, analyse
from polysched.errors import UsageError
from polysched.scheduling import pluto
from polysched.scheduling.solids import draw_solid
from polysched.scop import from_c_text
from polysched.tiling import TilingOptions, tile


@functools.cache
def heat() -> Dependences:
    return analyse(from_c_text("""void heat(int T, int n, double a[restrict T + 1][n][n]) {
#pragma scop
  for (int t = 0; t < T; t++) for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
    a[t + 1][i][j] = a[t][i - 1][j] + a[t][i + 1][j] + a[t][i][j - 1] + a[t][i][j + 1];
#pragma endscop
}"""))


def test_instances_arrows_and_tiles() -> None:
    tiled = tile(pluto(heat()), TilingOptions(sizes=2, register=False))
    solid = draw_solid(heat(), tiled.tree, parameters={"T": 3, "n": 6})
    cube = set(itertools.product(range(1, 5), range(1, 5), range(3)))
    assert set(solid.points) == cube
    assert solid.axes == ("j", "i", "t")
    moves = {(0, 1), (0, -1), (1, 0), (-1, 0)}
    assert set(solid.arrows) == {((j, i, t), (j + b, i + a, t + 1)) for j, i, t in cube for a, b in moves
                                 if (j + b, i + a, t + 1) in cube}
    assert set(solid.tiles) == cube
    assert set(solid.bodies) == set(solid.tiles.values()) == set(solid.turns) & set(solid.tiles.values())
    for group, faces in solid.bodies.items():
        assert len(faces) >= 4
        for d in range(3):
            low, high = (f(c[d] for face in faces for c in face) for f in (min, max))
            assert all(low <= point[d] <= high for point, own in solid.tiles.items() if own == group)


def test_of_many_arrows_those_of_one_instance_are_drawn() -> None:
    solid = draw_solid(heat(), heat().scop.schedule, parameters={"T": 5, "n": 8}, axes=("i", "j", "t"))
    assert solid.axes == ("i", "j", "t")
    assert len(solid.drawn_arrows) == 8
    assert "8 of" in solid.note
    assert not solid.tiles


@pytest.mark.parametrize(("choice", "said"), [
    ({"statement": "S7"}, "no statement 'S7'"), ({"axes": ("i", "i", "t")}, "three different"),
    ({"axes": ("i", "x", "t")}, "no iterator 'x'"), ({"parameters": {"T": 90, "n": 90}}, "too many to draw")])
def test_what_cannot_be_drawn(choice, said) -> None:
    with pytest.raises(UsageError, match=said):
        draw_solid(heat(), heat().scop.schedule, **{"parameters": {"T": 3, "n": 5}, **choice})


def test_flat_programs_are_no_solids() -> None:
    scop = from_c_text("void f(int n, double a[n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 0;\n"
                       "#pragma endscop\n}")
    with pytest.raises(UsageError, match="no statement of f has three loops"):
        draw_solid(analyse(scop), scop.schedule)
    with pytest.raises(UsageError, match="S0 has 1 loops"):
        draw_solid(analyse(scop), scop.schedule, statement="S0")
