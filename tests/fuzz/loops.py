"""Loops and assignments of random programs, written down."""

from __future__ import annotations

from polysched.fuzz.affine import Affine
from polysched.fuzz.program import Guard, Loop, Reference, Statement, Term

ZERO = Affine()
N = Affine((("n", 1),), -1)
I_ = Affine((("i", 1),))


def loop(iterator: str, *body: Loop | Guard | Statement, lower: Affine = ZERO, upper: Affine = N, step: int = 1,
         downward: bool = False) -> Loop:
    return Loop(iterator, (lower,), (upper,), step, downward, body)


def assign(target: Reference, *terms: Term, op: str = "=") -> Statement:
    return Statement(target, op, terms)
