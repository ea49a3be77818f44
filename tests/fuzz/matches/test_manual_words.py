"""Sums in the words of manuals: the same function, in every spelling."""

from __future__ import annotations

import random

import pytest

from polysched.fuzz.affine import Affine
from polysched.fuzz.matches.c_tree import Assign, Binary, Element, Function
from polysched.fuzz.matches.manual_words import in_manual_words
from polysched.fuzz.matches.unit_parts import affine, loops
from polysched.tensorize.description.derivation import derive
from polysched.tensorize.description.field_proof import same_function
from polysched.tensorize.description.reading import parse

SUM = Assign(Element("C", (affine(("i", 1)),)), "+=",
             Binary("*", Element("A", (affine(("i", 1)), affine(("k", 1)))), Element("B", (affine(("k", 1)),))))
PARAMETERS = (("C", "int32_t"), ("A", "int8_t"), ("B", "int8_t"))


@pytest.mark.parametrize("seed", range(6))
def test_a_spelling_is_the_same_function(seed: int) -> None:
    body = loops([("i", 4), ("k", 2)], (SUM,))
    plain, spelt = (parse(Function("unit", PARAMETERS, b).text(region=False))
                    for b in (body, in_manual_words(random.Random(seed), body, "int32_t")))
    assert spelt.text != plain.text
    assert same_function(spelt, derive(plain))


def test_spellings_differ() -> None:
    body = loops([("i", 4), ("k", 2)], (SUM,))
    assert len({in_manual_words(random.Random(seed), body, "int32_t") for seed in range(20)}) == 3


def test_a_loop_downwards_adds_in_its_order() -> None:
    body = loops([("i", 4), ("k", 2)], (SUM,), "k")
    texts = [Function("unit", PARAMETERS, in_manual_words(random.Random(seed), body, "int32_t")).text(region=False)
             for seed in range(20)]
    written_out = [text for text in texts if "B[1]" in text]
    assert written_out
    assert all(text.index("* B[1]") < text.index("* B[0]") for text in written_out)


def test_what_is_no_sum_of_a_loop_stays() -> None:
    copy = loops([("i", 4)], (Assign(Element("C", (affine(("i", 1)),)), "=", Element("B", (Affine(),))),))
    assert in_manual_words(random.Random(1), copy, "int32_t") == copy
