"""Terms are found up to a bound, without repetition, and only those that the numerics allow."""

from __future__ import annotations

import random

import numpy as np

from polysched.scop.expression import compute, placeholder
from polysched.search.rewriting.rewriter import variants
from polysched.search.rewriting.terms import key
from tests.search.rewriting.programs import chain, maps, matrix_product, run, values_of


def product_of_three():
    a, b, c = placeholder("A", (3, 40)), placeholder("B", (40, 5)), placeholder("C", (5, 2))
    return matrix_product(matrix_product(a, b, "T"), c, "O")


def test_a_chain_has_its_other_order_only_with_leave():
    assert any("chain order" in str(t) for t in variants(product_of_three(), reassociate=True, depth=1))
    kept = variants(product_of_three(), depth=1)
    assert kept[0].history == ()
    assert not any(word in str(t) for t in kept for word in ("chain", "factor", "distribute", "reduction", "Winograd"))


def test_terms_differ_and_end_at_the_bound():
    found = variants(product_of_three(), reassociate=True, most=12)
    assert len({key(t.output) for t in found}) == len(found) == 12
    lengths = [len(t.history) for t in found]
    assert lengths == sorted(lengths)


def test_two_rules_keep_the_value_bit_for_bit():
    output = maps(random.Random(3), "float32")
    values = values_of(output, 5)
    found = variants(output, depth=2, most=10)
    assert max(len(t.history) for t in found) == 2
    for term in found:
        assert np.array_equal(run(term.output, values), run(output, values)), str(term)


def test_signed_sums_keep_their_way():
    assert not [t for t in variants(chain(random.Random(1), "int32"), reassociate=True, depth=1) if "chain" in str(t)]
    assert [t for t in variants(chain(random.Random(1), "uint64"), depth=1) if "chain" in str(t)]


def test_narrow_types_are_left_alone():
    a = placeholder("A", (8,), "int8")
    t = compute((8,), lambda i: a[i] * a[i], name="T")
    assert len(variants(compute((8,), lambda i: t[i] + a[i], name="O"))) == 1


def test_all_terms_have_the_same_arguments():
    scops = [t.scop() for t in variants(product_of_three(), reassociate=True, most=8)]
    assert len({tuple(p.name for p in s.arrays if p.storage.value == "argument") for s in scops}) == 1
