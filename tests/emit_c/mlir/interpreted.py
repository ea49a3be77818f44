"""Functions of the affine dialect, parsed and verified by xDSL, and run operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

pytest.importorskip("xdsl", reason="xDSL reads the text of MLIR: pip install polysched[test]")

from xdsl.context import Context
from xdsl.dialects import affine, arith, builtin, func, math, memref
from xdsl.ir import Block
from xdsl.parser import Parser

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "arith.addf": lambda a, b: a + b, "arith.subf": lambda a, b: a - b, "arith.mulf": lambda a, b: a * b,
    "arith.divf": lambda a, b: a / b, "arith.addi": lambda a, b: a + b, "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b}
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b}
_SAME = {"arith.index_cast", "arith.extsi", "arith.extui", "arith.sitofp", "arith.extf"}


def parsed(text: str) -> builtin.ModuleOp:
    """The module, verified."""
    context = Context()
    for dialect in (affine.Affine, arith.Arith, builtin.Builtin, func.Func, math.Math, memref.MemRef):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def run(text: str, sizes: Mapping[str, int], arrays: Mapping[str, np.ndarray]) -> None:
    """Run the only function in place: sizes and arrays by the names of its arguments."""
    (function,) = parsed(text).ops
    block = function.body.block
    values = {argument: {**sizes, **arrays}[argument.name_hint] for argument in block.args}
    _block(block, values)


def _block(block: Block, values: dict[Any, Any]) -> None:
    for op in block.ops:
        _op(op, values)


def _op(op: Any, values: dict[Any, Any]) -> None:
    given = [values[operand] for operand in op.operands]
    match op.name:
        case "affine.for":
            lower = _applied(op.lowerBoundMap.data, [values[o] for o in op.lowerBoundOperands])
            upper = _applied(op.upperBoundMap.data, [values[o] for o in op.upperBoundOperands])
            for value in range(max(lower), min(upper), op.step.value.data):
                _block(op.body.block, {**values, op.body.block.args[0]: value})
        case "affine.if":
            condition = op.condition.data
            dimensions, symbols = given[:condition.num_dims], given[condition.num_dims:]
            holds = all(_holds(c, dimensions, symbols) for c in condition.constraints)
            region = op.then_region if holds else op.else_region
            for inner in region.blocks:
                _block(inner, dict(values))
        case "affine.apply":
            (values[op.results[0]],) = _applied(op.map.data, given)
        case "affine.load":
            values[op.results[0]] = given[0][_applied(op.map.data, given[1:])]
        case "affine.store":
            given[1][_applied(op.map.data, given[2:])] = given[0]
        case "arith.constant":
            values[op.results[0]] = op.value.value.data
        case "arith.select":
            values[op.results[0]] = given[1] if given[0] else given[2]
        case "arith.cmpf" | "arith.cmpi":
            values[op.results[0]] = _COMPARED[str(_predicate(op))](*given)
        case "func.return" | "affine.yield":
            pass
        case name:
            values[op.results[0]] = given[0] if name in _SAME else _BINARY[name](*given)


def _applied(map_: Any, operands: list[int]) -> tuple[int, ...]:
    return tuple(map_.eval(operands[:map_.num_dims], operands[map_.num_dims:]))


def _holds(constraint: Any, dimensions: list[int], symbols: list[int]) -> bool:
    left, right = constraint.lhs.eval(dimensions, symbols), constraint.rhs.eval(dimensions, symbols)
    return bool(left == right if constraint.kind.value == "==" else left >= right)


def _predicate(op: Any) -> str:
    names = (arith.CMPF_COMPARISON_OPERATIONS if op.name == "arith.cmpf" else arith.CMPI_COMPARISON_OPERATIONS)
    return names[op.predicate.value.data][-2:]
