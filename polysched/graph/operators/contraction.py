"""Einsum: one sum of products over the labels that the result does not have."""

from __future__ import annotations

import re

import numpy as np

from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site, one_type
from polysched.graph.values.refusals import Remedy
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.records import dataclass
from polysched.scop.dtypes import BOOL
from polysched.scop.expression import Expression, Tensor, axis, compute
from polysched.scop.expression import sum as sum_of

_TERM = re.compile(r"[A-Za-z]*(?:\.\.\.)?[A-Za-z]*")


@dataclass(frozen=True)
class Equation:
    """Labels of every operand and of the result; dimensions of an ellipsis are labels `.0`, `.1`, ... from the last.

    Parameters
    ----------
    extents : of every label.
    """

    operands: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]
    extents: dict[str, Size]


def equation(site: Site) -> Equation:
    """What a node's equation means for the shapes of its operands.

    Raises
    ------
    UnsupportedGraphError : it does not fit them.
    """
    text = site.attribute("equation", "").replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(site.inputs) or not all(_TERM.fullmatch(t) for t in [*terms, right]):
        raise site.refusal(f"the equation {text!r} does not fit {len(site.inputs)} operands", "equation",
                           hint="name each operand's dimensions by letters, operands separated by commas, and the "
                                "result's behind ->")
    operands = tuple(_labels(site, t, site.type(p).rank) for p, t in enumerate(terms))
    extents = _extents(site, operands)
    ellipsis = sorted((x for x in extents if x.startswith(".")), key=lambda x: -int(x[1:]))
    if arrow:
        result = _labels(site, right, len(right.replace("...", "")) + (len(ellipsis) if "..." in right else 0))
    else:
        once = sorted(x for x in extents if x.isalpha() and left.count(x) == 1)
        result = (*ellipsis, *once)
    if not set(result) <= set(extents) or len(set(result)) != len(result):
        raise site.refusal(f"the result of {text!r} has labels that no operand has, or one twice", "equation",
                           hint="name each dimension of the result once, by a letter of an operand")
    return Equation(operands, result, extents)


def _extents(site: Site, operands: tuple[tuple[str, ...], ...]) -> dict[str, Size]:
    """The extent of every label; 1 spreads over the others."""
    extents: dict[str, Size] = {}
    for place, labels in enumerate(operands):
        for label, extent in zip(labels, site.type(place).shape, strict=True):
            known = extents.get(label, Size(1))
            if known != 1 and extent not in (1, known):
                raise site.refusal(f"the label {label} has two extents", "equation", witness=f"{known} and {extent}",
                                   hint="use different letters for dimensions of different extents")
            extents[label] = extent if known == 1 else known
    return extents


def _labels(site: Site, term: str, rank: int) -> tuple[str, ...]:
    before, dots, behind = term.partition("...")
    count = rank - len(before) - len(behind)
    if count < 0 or (count and not dots):
        raise site.refusal(f"the term {term!r} does not fit {rank} dimensions", "equation",
                           hint=f"name {rank} dimensions by letters, or use ...")
    return (*before, *(f".{d}" for d in reversed(range(count))), *behind)


def _types(site: Site) -> tuple[TensorType, ...]:
    dtype = one_type(site, range(len(site.inputs)))
    if dtype == BOOL:
        raise site.refusal("products of truth values", (0, 1) if len(site.inputs) > 1 else 0, hint=Remedy.CONVERT)
    own = equation(site)
    return (TensorType(dtype, tuple(own.extents[x] for x in own.result)),)


def _expression(site: Site, *operands: Tensor) -> Tensor:
    own = equation(site)
    summed = {x: axis(f"r{n}", extent_of(e)) for n, (x, e) in enumerate(own.extents.items()) if x not in own.result}

    def element(*i: Expression) -> Expression:
        places: dict[str, Expression] = {**dict(zip(own.result, i, strict=True)), **summed}
        value: Expression | None = None
        for place, (tensor, labels) in enumerate(zip(operands, own.operands, strict=True)):
            subscripts = tuple(0 * places[x] if e == 1 and own.extents[x] != 1 else places[x]
                               for x, e in zip(labels, site.type(place).shape, strict=True))
            factor = tensor[subscripts]
            value = factor if value is None else value * factor
        assert value is not None
        return sum_of(value, over=tuple(summed.values())) if summed else value
    return compute([extent_of(e) for e in site.output.shape], element, name="y")


def _np_einsum(site: Site, *operands: np.ndarray) -> np.ndarray:
    wide = [o.astype(np.float64) if o.dtype.kind == "f" else o for o in operands]
    return np.asarray(np.einsum(site.attribute("equation", ""), *wide)).astype(operands[0].dtype)


OPERATORS = (Operator(name="Einsum", kind=Kind.OUTPUT_FUSABLE, types=_types, reference=_np_einsum,
                      expression=_expression),)
