"""The operators by which a team combines what its items found: the C of a combination, and of what changes nothing."""

from __future__ import annotations

from polysched.scop.dtypes import DType, Kind

_SIGNS = {"sum": "+", "product": "*", "and": "&", "or": "|", "xor": "^"}


def combined(operator: str, left: str, right: str) -> str:
    """C of two values combined."""
    if operator in ("min", "max"):
        return f"{right} {'<' if operator == 'min' else '>'} {left} ? {right} : {left}"
    return f"{left} {_SIGNS[operator]} {right}"


def neutral_element(operator: str, dtype: DType) -> str:
    """C of the value that changes none that it is combined with."""
    if operator in ("min", "max"):
        return _extreme(dtype, largest=operator == "min")
    if operator == "sum" and dtype.kind is Kind.FLOAT:   # 0.0 would change -0.0
        return "-0.0f"
    return {"product": "1", "and": "-1"}.get(operator, "0")


def _extreme(dtype: DType, *, largest: bool) -> str:
    if dtype.kind is Kind.FLOAT:
        return f"{'' if largest else '-'}1 / 0.0f"
    lower, upper = dtype.value_range()
    if largest:
        return _literal(upper, dtype)
    return f"{_literal(lower + 1, dtype)} - 1" if lower else "0"


def _literal(value: int, dtype: DType) -> str:
    suffix = ("" if dtype.kind is Kind.SIGNED else "u") + ("l" if dtype.bits > 32 else "")
    return f"{value}{suffix}"
