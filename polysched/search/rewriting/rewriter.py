"""Terms that compute the same as a tensor expression, by rules one after the other, up to a bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polysched.errors import PolyschedError
from polysched.records import dataclass
from polysched.scop.dtypes import FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64, DType
from polysched.scop.expression import build
from polysched.scop.expression.tensors import Read, Tensor, walk
from polysched.scop.scop import Scop
from polysched.search.limits import LIMITS
from polysched.search.rewriting.rules import RULES, Keeps, Rule
from polysched.search.rewriting.terms import inputs, key, stages, with_stage

FLOATS: frozenset[DType] = frozenset({FLOAT32, FLOAT64})
WRAPPING: frozenset[DType] = frozenset({UINT32, UINT64})
"""In which sums and products are a ring, whatever overflows on the way."""
KNOWN: frozenset[DType] = FLOATS | WRAPPING | {INT32, INT64}
"""Types in which C computes without promotion, so that a stage may disappear."""


@dataclass(frozen=True, eq=False)
class Term:
    """A tensor expression, and how rules made it.

    Parameters
    ----------
    output : what is computed; it reads the same inputs as the first term.
    history : the rules with their stages, in order; empty for the first term.
    """

    output: Tensor
    history: tuple[str, ...] = ()

    def scop(self) -> Scop:
        """The program of the term; all terms of one expression have the same arguments in the same order.

        Raises
        ------
        PolyschedError : a subscript is outside its tensor, or not affine.
        """
        return build(self.output, arguments=[*sorted(inputs(self.output), key=lambda t: t.name), self.output])

    def __str__(self) -> str:
        return ", then ".join(self.history) or "as written"

    def __repr__(self) -> str:
        return f"Term({self.output.name}: {self})"


def variants(output: Tensor, *, reassociate: bool = False, rules: Sequence[Rule] = RULES,
             depth: int = LIMITS.rewriting_depth, most: int = LIMITS.most_terms) -> tuple[Term, ...]:
    """Different terms that compute an output, the term itself first, those of fewer rules before others.

    Parameters
    ----------
    reassociate : floats may be rounded in another order; without it rules that do so apply to unsigned integers only.
    depth : rules that are applied one after the other.
    most : terms at which it ends.

    Source: bounded breadth-first search in place of equality saturation, which grows without bound on products.
    """
    return tuple(explored([Term(output)], rules, reassociate=reassociate, depth=depth, most=most))


def explored(first: Sequence[Term], rules: Sequence[Rule], *, reassociate: bool, depth: int,
             most: int) -> Iterator[Term]:
    """Some terms and different ones that rules make of them, breadth first; as `variants`."""
    known = {key(term.output): term for term in first}
    yield from known.values()
    front = list(known.values())
    for _ in range(depth):
        following: list[Term] = []
        for term in front:
            for new in _rewritten(term, rules, reassociate=reassociate):
                if len(known) >= most:
                    return
                if key(new.output) not in known:
                    known[key(new.output)] = new
                    following.append(new)
                    yield new
        front = following


def _rewritten(term: Term, rules: Sequence[Rule], *, reassociate: bool) -> Iterator[Term]:
    for rule in rules:
        for stage in stages(term.output):
            if not _allows(stage, rule, reassociate=reassociate):
                continue
            for new in rule.rewrite(stage):
                made = Term(with_stage(term.output, stage, new), (*term.history, f"{rule.name} of {stage.name}"))
                if _is_program(made):
                    yield made


def _allows(stage: Tensor, rule: Rule, *, reassociate: bool) -> bool:
    """Whether the types of a stage and of what it reads let the rule keep the value.

    Signed integers may overflow on another way to the same sum, which C does not define.
    """
    assert stage.definition is not None
    types = {stage.dtype, *(n.tensor.dtype for n in walk(stage.definition.value) if isinstance(n, Read))}
    if rule.keeps is Keeps.ORDER:
        return types <= KNOWN
    return types <= WRAPPING or (reassociate and types <= FLOATS)


def _is_program(term: Term) -> bool:
    try:
        term.scop()
    except PolyschedError:
        return False
    return True


__all__ = ["Term", "explored", "variants"]
