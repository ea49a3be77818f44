"""What an operand holds where the instruction reads it in several places: one expression per place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from polysched.scop.body import Call, Expr, Literal
from polysched.tensorize.description.contraction import Contraction
from polysched.tensorize.description.semantics import Element

SEVERAL = "elements"   # no C name of a function in programs: expressions of a match only are built with it


def together(parts: Iterable[Expr]) -> Expr:
    """One expression for the contents of an operand; `parts_of` takes it apart.  Every walk sees all parts."""
    found = tuple(parts)
    return found[0] if len(found) == 1 else Call(SEVERAL, found, found[0].dtype)


def parts_of(content: Expr) -> tuple[Expr, ...]:
    """The expressions that `together` joined, in the order of the places."""
    return content.arguments if isinstance(content, Call) and content.function == SEVERAL else (content,)


def places_of(contraction: Contraction, operand: str) -> tuple[Element, ...]:
    """The elements of an operand that the update reads, or the one that it writes."""
    read = tuple(e for e in contraction.inputs if e.array == operand)
    return read or tuple(r.output for r in contraction.results if r.output.array == operand)


def by_operand(contraction: Contraction, chosen: Mapping[str, Expr]) -> dict[str, Expr]:
    """Per operand its content.

    Parameters
    ----------
    chosen : per element that the update reads, spelt as its reference, what the program puts there.
    """
    names = dict.fromkeys(e.array for e in contraction.inputs)
    return {name: together(chosen[str(e)] for e in places_of(contraction, name)) for name in names}


def by_result(contraction: Contraction, written: Mapping[str, Expr]) -> dict[str, Expr]:
    """Per written operand its content.

    Parameters
    ----------
    written : per element that the instruction writes, spelt as its reference, the program's element.
    """
    names = dict.fromkeys(r.output.array for r in contraction.results)
    return {name: together(written[str(e)] for e in places_of(contraction, name)) for name in names}


def is_one(e: Expr) -> bool:
    """The operand holds a constant in every place."""
    return all(isinstance(part, Literal) for part in parts_of(e))
