"""Pictures of points: what is drawn, what is too much, and sizes that fit."""

from dataclasses import replace

import islpy as isl
import pytest

from polysched.errors import UsageError
from polysched.scop import from_c_text
from polysched.scop.picture import Link, Panel, Picture, draw_domains, slice_points, small_parameters, svg_document

TRIANGLE = from_c_text("""void f(int n, double a[restrict n][n][n]) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < 3; k++) a[i][j][k] = 0;
#pragma endscop
}""")


def test_the_two_innermost_iterators_are_drawn_and_the_middle_of_others() -> None:
    points, names, fixed = slice_points(TRIANGLE.statements[0], {"n": 4})
    assert names == ("k", "j")
    assert list(fixed) == ["i"]
    assert set(points.values()) == {(k, j) for j in range(fixed["i"] + 1) for k in range(3)}


def test_a_domain_of_no_iterator_is_one_point() -> None:
    scop = from_c_text("void f(int n, double *a) {\n#pragma scop\n a[0] = n;\n#pragma endscop\n}")
    assert slice_points(scop.statements[0], {"n": 3}) == ({(): (0, 0)}, ("", ""), {})


@pytest.mark.parametrize(("n", "count"), [(60, "5490"), (100_000, "more than 2500")])
def test_too_many_points_are_refused_without_counting_them(n: int, count: str) -> None:
    with pytest.raises(UsageError, match=f"{count} instances of S0 are too many to draw"):
        slice_points(TRIANGLE.statements[0], {"n": n})


def test_small_sizes_lie_in_the_context() -> None:
    assert small_parameters(TRIANGLE)["n"] in range(3, 8)
    large = replace(TRIANGLE, context=TRIANGLE.context.intersect(isl.Set("[n] -> { : n >= 20 }")))
    assert small_parameters(large) == {"n": 20}
    huge = replace(TRIANGLE, context=TRIANGLE.context.intersect(isl.Set("[n] -> { : n >= 9000 }")))
    with pytest.raises(UsageError, match="no value of n near 7 is possible"):
        small_parameters(huge)
    assert small_parameters(huge, given={"n": 3000}) == {"n": 3000}
    assert small_parameters(huge, given={"n": 3}) == {"n": 3}


def test_a_picture_is_one_self_contained_document() -> None:
    left = Panel(title="A < B", axes=("i", "j"), points=((0, 0), (1, 0)), arrows=(((0, 0), (1, 0)),),
                 colours={(0, 0): 0, (1, 0): 1}, inks={(0, 0): "#ee6677"}, legend=(("#ee6677", "red"),))
    picture = Picture(panels=(left, Panel(title="empty", axes=("", ""), points=())),
                      links=(Link(0, (0, 0), 0, (1, 0)),), note="a note")
    svg = picture.svg
    assert svg.startswith("<svg")
    assert "A &lt; B" in svg
    assert "empty: no instance" in svg
    assert svg.count("<circle") == 3, "two points, one in the legend"
    fills = [part.split('"')[1] for part in svg.split('class="tile"')[1:] for part in part.split("fill=")[1:2]]
    assert len(set(fills)) == 2, "neighbouring groups differ"
    assert str(picture) == "A < B: 2 instances, 1 arrows, 2 tiles\nempty: 0 instances, 0 arrows, 0 tiles\n" \
                           "1 arrows between statements\na note\n"


def test_domains_side_by_side() -> None:
    picture = draw_domains(TRIANGLE, parameters={"n": 3}, axes=("j", "i"))
    (panel,) = picture.panels
    assert panel.title in {f"S0 (k = {k})" for k in range(3)}
    assert set(panel.points) == {(j, i) for i in range(3) for j in range(i + 1)}


def test_a_document_that_keeps_its_size() -> None:
    assert "max-width" in svg_document("", width=10, height=5)
    assert "max-width" not in svg_document("", width=10, height=5, shrinks=False)
