"""Terms compare by structure, and one stage changes without the others."""

from __future__ import annotations

import random

from polysched.scop.expression import compute, placeholder
from polysched.search.rewriting.terms import factors, inputs, key, stages, with_stage
from tests.search.rewriting.programs import chain, maps


def test_names_of_stages_and_axes_do_not_count():
    a = placeholder("A", (4,))
    assert key(compute((4,), lambda i: a[i] + 1, name="O")) == key(compute((4,), lambda q: a[q] + 1, name="P"))
    assert key(compute((4,), lambda i: a[i] + 1, name="O")) != key(compute((4,), lambda i: a[i] + 2, name="O"))
    assert key(compute((4,), lambda i: a[i] + 1, name="O")) != key(compute((4,), lambda i: a[3 - i] + 1, name="O"))


def test_stages_stand_behind_what_they_read():
    output = chain(random.Random(0), "float32")
    assert [s.name for s in stages(output)] == ["T", "O"]
    assert [t.name for t in inputs(output)] == ["A", "B", "C"]


def test_a_stage_is_replaced_for_whoever_reads_it():
    output = maps(random.Random(0), "float32")
    (old, _) = stages(output)
    new = compute(old.shape, lambda i, j: placeholder("Z", old.shape)[i, j], name="T")
    changed = with_stage(output, old, new)
    assert [t.name for t in inputs(changed)] == ["Z"]
    assert [t.name for t in inputs(output)] == ["A"]


def test_factors_from_left_to_right():
    a = placeholder("A", (4,))
    product = (a[0] * a[1]) * (a[2] * (a[3] + 1))
    assert [getattr(f, "op", "read") for f in factors(product)] == ["read", "read", "read", "+"]
