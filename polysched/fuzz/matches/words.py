"""Programs that compute what a description says, in other words.

Every rewrite keeps each bit of the result in C with wrapping signed arithmetic: integers may be added in another order,
and floats are given whole numbers, whose sums are exact.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from polysched.fuzz.matches.branch_words import branched, joined, negated, nested, overwritten
from polysched.fuzz.matches.c_tree import Binary, Function, Looked, Number, walk
from polysched.fuzz.matches.expression_words import expression, other_spellings
from polysched.fuzz.matches.loop_words import (
    batched,
    distributed,
    downward,
    interchanged,
    moved_loop,
    one_array,
    one_row,
    renamed,
    shifted,
    transposed,
    unrolled,
)
from polysched.fuzz.matches.sum_words import (
    joined_sum,
    local_dropped,
    local_folded,
    spelled_out,
    split_sum,
    with_scalar,
)

Word = Callable[[random.Random, Function], Function | None]

WORDS: dict[str, tuple[Word, int]] = {
    "renamed": (renamed, 2), "loops interchanged": (interchanged, 3), "subscripts shifted": (shifted, 2),
    "loop moved": (moved_loop, 1), "array transposed": (transposed, 2), "row of an array": (one_row, 1),
    "batched": (batched, 2), "two operands in one array": (one_array, 1), "update spelled out": (spelled_out, 2),
    "scalar": (with_scalar, 3), "sum split": (split_sum, 2), "unrolled": (unrolled, 2), "sum joined": (joined_sum, 2),
    "local dropped": (local_dropped, 2), "local folded": (local_folded, 2), "downward": (downward, 1),
    "distributed": (distributed, 1), "types respelled": (other_spellings, 1), "expression": (expression, 6)}
"""By name, and how often each is drawn."""
OF_BRANCHES: dict[str, tuple[Word, int]] = {
    **WORDS, "branched": (branched, 40), "branches joined": (joined, 40), "branch negated": (negated, 5),
    "branch nested": (nested, 5), "overwritten": (overwritten, 5)}
"""Of programs that choose what they write."""


def reworded(source: random.Random, function: Function, count: int,
             table: dict[str, tuple[Word, int]] | None = None) -> tuple[Function, tuple[str, ...]]:
    """So many rewrites, one after another, and their names; those that have nothing to do are left out."""
    table = WORDS if table is None else table
    done: list[str] = []
    for _ in range(count):
        name = source.choices(list(table), weights=[w for _, w in table.values()])[0]
        if name in done and name not in ("expression", "scalar", "unrolled", "sum joined", "branched"):
            continue
        new = table[name][0](source, function)
        if new is not None and new != function and keeps_tables(new):
            function = new
            done.append(name)
            joined = joined_sum(source, function) if name == "unrolled" and source.random() < 0.5 else None
            if joined is not None:
                function = joined
                done.append("sum joined")
    return function, tuple(done)


def keeps_tables(function: Function) -> bool:
    """Whether every index that data chooses is masked to its table."""
    return all(isinstance(e.index, Binary) and e.index.op == "&" and isinstance(e.index.right, Number)
               and e.index.right.value == e.extent - 1 for e in walk(function.body) if isinstance(e, Looked))
