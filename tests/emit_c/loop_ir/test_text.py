"""The text form of the loop IR: what people read, and that it parses back to the same value."""

from __future__ import annotations

import pytest

from polysched.emit_c.loop_ir.index import (
    Choice,
    Comparison,
    Junction,
    Linear,
    ToBoundary,
    constant,
    extreme,
    of_atom,
    product,
    quotient,
    remainder,
    source_operation,
    variable,
)
from polysched.emit_c.loop_ir.loops import (
    Block,
    Edge,
    FetchedRow,
    For,
    If,
    Let,
    Local,
    Node,
    OnCopy,
    Packed,
    Panel,
    Partial,
    PartialElement,
    RegisterTile,
    StatementInstance,
    Temporary,
    ThreadPart,
    ThreadReduction,
)
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.text import LONGEST, folded, linear_text, loop_text
from polysched.errors import SourceSyntaxError
from polysched.scheduling.marks import LoopMark, Role
from polysched.scop.body import Binary, Literal, Load
from polysched.scop.dtypes import FLOAT32, FLOAT64

I_, J, N = variable("i"), variable("j"), variable("n")
S0 = StatementInstance("S0", (I_, J + 1))
ROW = RegisterTile((For("j", constant(0), N, 4, Block(())),), (Edge("i", I_, 4, True),), S0)
SCALED = Binary("*", Literal("2.5f", 2.5, FLOAT32), Load("S0_r1", FLOAT32), FLOAT32)
PANEL = Panel("B_panel", "S0", SCALED, (I_, J), (4, 8), (For("i", constant(0), constant(4), 1, Block(())),), True,
              shared=1, outer=("n * 2ul",))
VALUE = Temporary("a->b", "t_2", (0,), (I_,), (8,))
NODES: dict[str, Node] = {
    "loops": For("i", constant(0), N, 1, For("j", I_ * -2 + 3, extreme("min", (N, I_ + 8)), 4, S0, LoopMark(
        role=Role.TILE, band=1, parallel=True), depth=2, forgets=True, fences=True)),
    "guard": For("i", constant(0), N, 1, S0, guard=Comparison("<", I_, N)),
    "branches": If(Junction("&&", (Comparison("<=", I_, J), Junction("||", (
        Comparison("==", I_, constant(0)), Comparison(">", J, N))))), S0, Block((S0, S0))),
    "one branch": If(Comparison(">=", I_, constant(-1)), S0),
    "let": Let("p", I_ + J, S0, depth=1, name="row"),
    "empty block": Block(()),
    "block of one": Block((S0,)),
    "nested blocks": Block((Block((S0, S0)), S0, Block(()), Block((Block((S0,)), S0)))),
    "keywords": For("lambda", constant(0), variable("min"), 1, StatementInstance("class", (variable("lambda"),))),
    "odd names": StatementInstance("S 1", (variable("p->n"),)),
    "local": Local((VALUE, Temporary("x", "x")), StatementInstance("S0", (I_, J), (VALUE,))),
    "tile": RegisterTile((), (Edge("i", I_, 4, False), Edge("j", J * 8, 8, True)), S0, ahead="j", within=(
        (I_, I_ + 3), (J, N)), fetched=(FetchedRow("A", (I_, J + 8), 3072),), past_caches="C", copied_from=I_,
        private=(VALUE,), partials=(Partial("s", "+", (I_,)),)),
    "packed": Packed(PANEL, S0, RegisterTile(ROW.loops, ROW.edges, S0, panels=(PANEL,))),
    "copy": OnCopy(ROW, 16, ROW),
    "threads": ThreadReduction(
        For("i", constant(0), N, 1, S0), For("i", variable("first"), variable("end"), 1, S0), "first", "end", "part",
        (ThreadPart(VALUE, "+", PartialElement(S0, "S0_w0")), ThreadPart(VALUE, "argmax", None, (
            (VALUE, PartialElement(S0, "S0_w1")),)))),
}
FORMS = {
    "2*i - j - 3": I_ * 2 - J - 3,
    "-3*i + n": I_ * -3 + N,
    "0": constant(0),
    "floord(i - 1, 4)": quotient(I_ - 1, 4, truncates=False),
    "8*quot(n, 4)": quotient(N, 4, truncates=True) * 8,
    "rem(i + j, 2)": remainder(I_ + J, 2),
    "source('%', i, 3)": source_operation("%", I_, 3),
    "max(i, 2*j)": extreme("max", (I_, J * 2)),
    "choose(i < j, n, -1)": of_atom(Choice(Comparison("<", I_, J), N, constant(-1))),
    "product(i, n + 1)": product(I_, N + 1),
    "to_boundary('A[{}]', 4, 64, i)": of_atom(ToBoundary("A[{}]", (I_,), 4, 64)),
}


@pytest.mark.parametrize("name", NODES)
def test_a_node_reads_back(name: str) -> None:
    assert parse_loops(loop_text(NODES[name])) == NODES[name]


@pytest.mark.parametrize(("text", "form"), FORMS.items())
def test_index_expressions_read_as_people_write_them(text: str, form: Linear) -> None:
    assert linear_text(form) == text
    assert parse_loops(f"S0({text})") == StatementInstance("S0", (form,))


def test_terms_keep_their_order() -> None:
    """The order is how they print in C."""
    form = (N - I_).terms
    (read,) = parse_loops(loop_text(StatementInstance("S0", (N - I_,)))).iterators   # type: ignore[union-attr]
    assert read.terms == form


def test_loops_read_like_loops() -> None:
    assert loop_text(NODES["loops"]) == (
        "for i in range(0, n):\n"
        "    for j in range(-2*i + 3, min(n, i + 8), 4, mark='role=tile band=1 parallel=1', depth=2, forgets=True, "
        "fences=True):\n"
        "        S0(i, j + 1)\n")


def test_a_tile_names_the_panels_around_it() -> None:
    text = loop_text(NODES["packed"])
    assert text.count("Panel(") == 1
    assert "panels=('B_panel',)" in text


@pytest.mark.parametrize(("text", "witness"), [
    ("for i in range(0, n)", "for i in range(0, n)"),
    ("while i: pass", "while i:"),
    ("S0(i ** 2)", "i ** 2"),
    ("S0(i * j)", "i"),
    ("for i in range(n): S0(i)", "for i in range(n):"),
    ("with thing(): S0(i)", "with thing():"),
    ("S0(open('x'))", "open('x')"),
    ("with local(Temporary(array='a', name=exit())): S0(i)", "exit()"),
])
def test_other_texts_are_refused(text: str, witness: str) -> None:
    with pytest.raises(SourceSyntaxError, match="no text form of the loop IR") as refused:
        parse_loops(text)
    assert refused.value.witness == witness


def test_a_panel_that_nothing_fills_is_refused() -> None:
    with pytest.raises(SourceSyntaxError, match="no panel B_panel is filled around this tile"):
        parse_loops("with register_tile(loops=(), edges=(), panels=('B_panel',)): S0(i)")


LONG = Packed(Panel("P, (", "S0", SCALED, tuple(I_ + k for k in range(20)), (4,), tuple(
    For(f"i{k}", constant(k), N + k, 1, Block(())) for k in range(9)), True), S0, RegisterTile(
        (), tuple(Edge(f"it's {k} (", I_, 4, False) for k in range(9)), S0))
LONG_NODES: dict[str, Node] = {
    "panel": LONG,
    "loop": For("i", extreme("max", tuple(variable(f"lower{k}") for k in range(20))), N, 1, LONG),
    "test": If(Junction("&&", tuple(Comparison("<", I_ * k, N - k) for k in range(2, 20))), S0, LONG),
    "instance": StatementInstance("S0", tuple(quotient(I_ + k, 4, truncates=False) for k in range(20))),
    "one argument": Local((Temporary("t", "t" * 100, (), (), ()),), S0),
    "nothing to cut": For("v" * 150, constant(0), N, 1, S0),
}


@pytest.mark.parametrize("name", LONG_NODES)
def test_a_long_node_has_a_line_per_argument_and_reads_back(name: str) -> None:
    text = loop_text(LONG_NODES[name])
    assert parse_loops(text) == LONG_NODES[name]
    assert all(len(line) <= LONGEST + 40 for line in text.splitlines()) or name == "nothing to cut", text


def test_every_loop_of_a_long_panel_has_a_line() -> None:
    lines = [line.strip() for line in loop_text(LONG).splitlines()]
    assert "loop(i0, 0, n)," in lines
    assert "loop(i8, 8, n + 8)," in lines
    assert lines[0] == "with packed("
    assert "name='P, (',"  in lines


def test_a_short_node_keeps_its_line() -> None:
    text = "S0(i, j + 1)"
    assert list(folded(text)) == [text]
    assert list(folded("")) == [""]


def test_types_are_told_apart() -> None:
    node = Packed(Panel("p", "S0", Load("S0_r1", FLOAT64), (I_,), (4,), (), False), S0, S0)
    assert "dtype('float64')" in loop_text(node)
    assert parse_loops(loop_text(node)) == node
