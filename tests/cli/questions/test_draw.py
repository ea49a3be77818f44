"""`polysched draw`: every view in every form that it has, and refusals in words."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from polysched.cli.questions.draw import FEWER_FORMS, FORMS, WITH_TILES
from polysched.distribute import MessagePicture
from polysched.notebook.explorer_page import ExplorerPage
from polysched.scop.picture import Picture
from polysched.scop.pictures.memory import MemoryPicture
from polysched.scop.pictures.solid import Solid
from tests.cli.command import is_refusal, polysched

HEAT = """\
void heat(int T, int n, double a[restrict T + 1][n])
{
#pragma scop
  for (int t = 0; t < T; t++)
    for (int i = 1; i < n - 1; i++)
      a[t + 1][i] = 0.33 * (a[t][i - 1] + a[t][i] + a[t][i + 1]);
#pragma endscop
}
"""
SPACE = """\
void space(int n, double a[restrict n][n][n])
{
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++)
      for (int k = 1; k < n; k++)
        a[i][j][k] = a[i - 1][j][k] + a[i][j - 1][k] + a[i][j][k - 1];
#pragma endscop
}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "heat.c").write_text(HEAT)
    (tmp_path / "space.c").write_text(SPACE)
    return tmp_path


def test_tiles_go_to_standard_output_as_svg(folder):
    done = polysched("draw", "heat.c", "--size", "T=6", "n=9", "--colour", "thread", "--threads", "2", folder=folder)
    assert done.returncode == 0, done.stderr
    root = ElementTree.fromstring(done.stdout)
    assert [part for part in root.iter() if part.get("class") == "tile"]


@pytest.mark.parametrize(("view", "program", "name", "holds"), [
    ("tiles", "heat.c", "a.tex", r"\begin{tikzpicture}"), ("tiles", "heat.c", "a.html", 'id="step"'),
    ("solid", "space.c", "a.html", 'id="azimuth"'), ("solid", "space.c", "a.tex", "tikzpicture"),
    ("lines", "heat.c", "a.html", "data-element"), ("order", "heat.c", "a.svg", "<svg"),
    ("dependences", "heat.c", "a.html", "data-from"), ("tree", "heat.c", "a.svg", "<svg")])
def test_views_and_forms(folder, view, program, name, holds):
    tiles = ("--tile", "3") if view in WITH_TILES else ()
    done = polysched("draw", program, "--view", view, *tiles, "-o", name, folder=folder)
    assert done.returncode == 0, done.stderr
    assert holds in (folder / name).read_text()


@pytest.mark.parametrize(("words", "problem"), [
    (("heat.c", "-o", "a.png"), "does not choose a form"),
    (("heat.c", "--view", "tree", "-o", "a.tex"), "--view tree has no such form"),
    (("heat.c", "--view", "lines", "-o", "a.tex"), "--view lines has no such form"),
    (("heat.c", "--view", "solid"), "no statement of heat has three loops"),
    (("heat.c", "--axes", "i"), "this picture has 2 axes, not 1"),
    (("heat.c", "--axes", "i,i"), "an iterator cannot be two axes"),
    (("heat.c", "--view", "tree", "--axes", "i,t"), "--view tree has no --axes"),
    (("heat.c", "--line-bytes", "32"), "--view tiles has no --line-bytes"),
    (("heat.c", "--function", "cold"), "no region in a function 'cold'"),
    (("heat.c", "--size", "n=9000"), "too many to draw"),
    (("heat.c", "--size", "n=0"), "nothing runs at these sizes"),
    (("heat.c", "--view", "dependences", "--size", "T=0"), "nothing runs at these sizes"),
    (("heat.c", "--view", "messages"), "needs the loop to distribute"),
    (("heat.c", "--view", "messages", "--distribute", "z"), "no loop z to distribute"),
    (("heat.c", "--distribute", "i"), "--view tiles has no --distribute"),
    (("heat.c", "--overlap"), "--view tiles has no --overlap"),
    *((("heat.c", "--view", "messages", "--distribute", "i", *words.split()), f"--view messages has no {told}")
      for words, told in (("--tile 3", "--tile"), ("--tile 0:3", "--tile"), ("--scheduler isl", "--scheduler"),
                          ("--threads 2", "--threads"), ("--assume n=9", "--assume"), ("--target mpi", "--target"),
                          ("--no-expand", "--no-expand"))),
    *((("heat.c", "--view", view, *words.split()), f"--view {view} has no {told}")
      for view, words, told in (
          ("dependences", "--tile 3", "--tile"), ("explorer", "--tile 3", "--tile"),
          ("explorer", "--tile 0:3", "--tile"), ("explorer", "--no-parallel", "--no-parallel"),
          ("explorer", "--no-split-tiles", "--no-split-tiles"), ("tiles", "--pack none", "--pack"),
          ("order", "--vector-bits 0", "--vector-bits"), ("lines", "--register-block 4x8", "--register-block"),
          ("explorer", "--assume n=9", "--assume"), ("dependences", "--scheduler isl", "--scheduler"),
          ("dependences", "--concurrent-start 1", "--concurrent-start"), ("dependences", "--iss", "--iss"))),
    (("heat.c", "--assume", "m=9"), "no parameter m"),
    (("heat.c", "--scheduler", "original", "--fusion", "max"), "--fusion does nothing with --scheduler original"),
    (("heat.c", "--tile", "off", "--split-tiles"), "--split-tiles does nothing with --tile off"),
    (("heat.c", "--view", "tree", "--threads", "2"), "--view tree has no --threads"),
    (("heat.c", "--scheduler", "original", "--tile", "off", "--colour", "step"), "no tiles to colour"),
    (("heat.c", "-o", "heat.c"), "the output is the input file")])
def test_refusals(folder, words, problem):
    done = polysched("draw", *words, folder=folder)
    assert problem in done.stderr
    assert is_refusal(done)


@pytest.mark.parametrize("words", [("--view", "lines", "--line-bytes", "0"), ("--threads", "0")])
def test_numbers_that_have_to_be_positive(folder, words):
    done = polysched("draw", "heat.c", *words, folder=folder)
    assert done.returncode == 2
    assert f"{words[-2]}: '0' is not a whole number above 0" in done.stderr


def test_a_program_without_parameters_gets_no_hint_about_them(folder):
    (folder / "fixed.c").write_text(
        "void large(double A[90][90]) {\n#pragma scop\n  for (int i = 0; i < 90; i++)\n"
        "    for (int j = 0; j < 90; j++) A[i][j] = 1;\n#pragma endscop\n}\n"
        "void none(double A[9]) {\n#pragma scop\n  for (int i = 7; i < 3; i++) A[i] = 1;\n#pragma endscop\n}\n")
    done = polysched("draw", "fixed.c", "--quiet", "--function", "large", folder=folder)
    assert done.stderr.endswith("too many to draw\n  hint: at most 2500 instances are drawn\n")
    done = polysched("draw", "fixed.c", "--quiet", "--function", "none", folder=folder)
    assert done.stderr == "polysched: none: no instance ever runs\n"


def test_a_missing_form_is_refused_before_anything_is_read(folder):
    done = polysched("draw", "heat.c", "--view", "explorer", "-o", "a.tex", folder=folder)   # its states took a minute
    assert "--view explorer has no such form" in done.stderr
    assert "reading" not in done.stderr
    assert is_refusal(done)


def test_views_have_the_forms_that_are_named():
    for view, kind in (("messages", MessagePicture), ("lines", MemoryPicture), ("explorer", ExplorerPage),
                       ("tiles", Picture), ("solid", Solid)):
        endings = tuple(ending for ending, form in FORMS.items() if hasattr(kind, form))
        assert endings == FEWER_FORMS.get(view, tuple(FORMS))


def test_copies_of_temporaries_are_those_of_the_picture(folder):
    (folder / "copied.c").write_text(
        "void copied(int n, double a[n], double b[n]) {\n  double x;\n#pragma scop\n  for (int i = 0; i < n; i++) {\n"
        "    x = 2 * a[i];\n    b[i] = x * x;\n  }\n#pragma endscop\n}\n")
    drawn = [polysched("draw", "copied.c", "--view", "dependences", *words, folder=folder).stdout
             for words in ((), ("--no-expand",))]
    assert drawn[0].startswith("<svg")
    assert drawn[0] != drawn[1]
