"""Random programs: always the same for a number, valid C inside its arrays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polysched.fuzz.affine import Affine
from polysched.fuzz.batch import Version, arguments_for, compile_batch
from polysched.fuzz.generator import TRIED_SIZES, Shape, generate
from polysched.fuzz.program import Guard, Loop, Program, Reference, Statement, Term, computes, walk
from polysched.scop import from_c_text
from polysched.target import find_compiler
from tests.fuzz.loops import I_, N, assign, loop


def test_a_number_gives_one_program() -> None:
    assert generate(7).text() == generate(7).text()
    assert len({generate(seed).text().split("(", 1)[1] for seed in range(50)}) == 50


def test_everything_that_a_program_can_hold_prints() -> None:
    s = Reference("s")
    body = (Loop("i", (Affine((), 1), Affine((("m", 1),))), (N, Affine((), 4)), 2, True, (
        Guard(((I_, 3), (I_.plus(N, -1), None)), "||", (assign(s, Term("2", I_), Term("3", None, True), op="+="),),
              (Statement(s, "=", (Term("1", s),), modulus=7, when=s),)),
        Statement(s, "=", (Term("1"),), choose=True))),)
    text = Program("f", ("n", "m"), {"s": "int"}, body).text()
    assert "for (i = ((n - 1) < (4) ? (n - 1) : (4)); i >= ((1) > (m) ? (1) : (m)); i -= 2) {" in text
    assert "if ((i) % 3 == 0 || i - n + 1 >= 0) {" in text
    assert "s += 2 * (i) - 3;" in text
    assert "if (s > 3) s = (s) % 7;" in text
    assert "s = s > 1 ? s : 1;" in text
    assert "int s_out[1]" in text


def test_temporaries_are_declared_where_they_are_used() -> None:
    texts = [generate(seed).text() for seed in range(60)]
    variables = [text for text in texts if " t1 = " in text]
    arrays = [text for text in texts if re.search(r" T1\[.*\];\n +for ", text)]
    assert len(variables) > 10
    assert len(arrays) >= 5
    scop = from_c_text(arrays[0])
    assert scop.array("T1").is_temporary
    assert not any("t1" in generate(seed, shape=Shape(temporaries=0.0)).text() for seed in range(60))


@pytest.mark.parametrize("first", [0, 60])
def test_programs_compile_and_their_accesses_stay_inside(first: int, tmp_path: Path) -> None:
    programs = [generate(seed, shape=Shape(data_dependent=0.2)) for seed in range(first, first + 60)]
    versions = [Version(label=f"v{p.name}", text=p.text(), function=p.name) for p in programs]
    compile_batch(versions, name="programs", folder=tmp_path, compiler=find_compiler())


def test_every_program_computes_something() -> None:
    assert all(any(computes(generate(seed), sizes) for sizes in TRIED_SIZES) for seed in range(200))
    empty = Program("f", ("n",), {"A": "int"}, (loop("i", assign(Reference("A", (I_,)), Term("1")), lower=Affine((), 2),
                                                     upper=Affine((), 1)),))
    assert not computes(empty, {"n": 8})
    guarded = Guard(((I_.plus(Affine((), -3)), None), (I_, 2)), "&&", (assign(Reference("A", (I_,)), Term("1")),))
    late = Program("f", ("n",), {"A": "int"}, (loop("i", guarded),))
    assert [computes(late, {"n": n}) for n in (3, 4, 5)] == [False, False, True]


def test_some_programs_hold_a_sum_of_products() -> None:
    nests = [generate(seed) for seed in range(60)]
    with_products = [p for p in nests if any(isinstance(node, Statement) and any(t.times for t in node.terms)
                                             for node in walk(p.body))]
    assert 3 <= len(with_products) <= 15
    assert re.search(r"P\[.*\] \+= Q\[.*\] \* R\[", with_products[0].text())


def test_the_front_end_reads_most_of_them() -> None:
    statements = 0
    for seed in range(20):
        program = generate(seed, shape=Shape(data_dependent=0.0))
        if not any(isinstance(node, Statement) for node in walk(program.body)):
            continue
        scop = from_c_text(program.text())
        statements += len(scop.statements)
        assert scop.source is not None
        assert scop.source.signature is not None
        assert arguments_for(scop.source.signature, {"n": 3, "m": 4})
    assert statements > 30
