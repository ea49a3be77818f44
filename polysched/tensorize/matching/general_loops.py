"""The loops of a fragment for all sizes: their ends as sums of sizes, the box around them, and numbers for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import islpy as isl

from polysched.tensorize.limits import LIMITS
from polysched.tensorize.software.fragment import Fragment, SoftwareLoop
from polysched.tensorize.software.polynomials import Polynomial, Quotient, affine_text, of_affine
from polysched.tensorize.software.sizes import Size, greatest_of, least_of


class NotGeneralError(Exception):
    """Why a match holds for its sample sizes only; the text is a reason for the user."""


def affine_sum(value: isl.PwAff, context: isl.Set) -> Polynomial | None:
    """A sum of parameters, and of these divided by numbers: the end of a loop in steps."""
    return of_affine(value.gist(context.params()).coalesce(), quotients=True)


def loops_of_all_sizes(fragment: Fragment, domain: isl.Set, context: isl.Set,
                       values: Mapping[str, int]) -> tuple[tuple[SoftwareLoop, ...], isl.Set, dict[str, str]]:
    """The loops, the box of their least and last values over the parameters, and the least ones in isl's words.

    Parameters
    ----------
    context : the sizes that may come; the ends of the loops have to say at which of them nothing runs.

    Raises
    ------
    NotGeneralError : they do not, or are no sums of sizes.
    """
    loops, bounds, lowers = [], [], {}
    for at, name in enumerate(fragment.statement.iterators):
        lows, highs = (_ends(domain, at, last=last) for last in (False, True))
        if not lows or not highs:
            raise NotGeneralError(f"the ends of loop {name} are not affine in the sizes")
        lowers[name] = _of_several("max", lows)
        bounds.append(f"{lowers[name]} <= {name} <= {_of_several('min', highs)}")
        first = reduce(greatest_of, [number(form, values) for form in lows])
        last = reduce(least_of, [number(form, values) for form in highs])
        loops.append(SoftwareLoop(name, first, last - first + 1))
    names = ", ".join(n for n, v in values.items() if isinstance(v, Size))
    iterators = f"{fragment.statement.name}[{', '.join(fragment.statement.iterators)}]"
    box = isl.Set.read_from_str(isl.DEFAULT_CONTEXT,
                                f"[{names}] -> {{ {iterators} : {' and '.join(bounds) or 'true'} }}")
    if not box.intersect_params(context).params().is_subset(domain.params()):
        raise NotGeneralError("a condition on the sizes decides whether it runs")
    return tuple(loops), box.intersect_params(domain.params()), lowers


def _of_several(function: str, forms: Sequence[Polynomial]) -> str:
    """The least or greatest of several sums in isl's words."""
    return reduce(lambda left, right: f"{function}({left}, {right})", map(affine_text, forms))


def _ends(domain: isl.Set, at: int, *, last: bool) -> list[Polynomial]:
    """The sums of which the last value of a loop is the least, the first one the greatest; without any, none is known.

    One sum that no iteration exceeds, where the end is none of all these: of a loop that others cut.
    """
    end = (domain.dim_max(at) if last else domain.dim_min(at)).coalesce()
    if (found := affine_sum(end, domain.params())) is not None:
        return [found]
    bounds = [isl.PwAff.from_aff(piece).intersect_domain(domain.params()) for _, piece in end.get_pieces()]
    forms = [affine_sum(bound, domain.params()) for bound in bounds]
    if len(bounds) <= LIMITS.ends_of_a_loop and None not in forms:
        whole = reduce(isl.PwAff.min if last else isl.PwAff.max, bounds)
        if whole.intersect_domain(end.domain()).is_equal(end):
            return [form for form in forms if form is not None]
    one = _end(domain, at, end, last=last)
    return [] if one is None else [one]


def _end(domain: isl.Set, at: int, end: isl.PwAff, *, last: bool) -> Polynomial | None:
    """One of several bounds of a loop that no iteration exceeds."""
    values = domain.project_out(isl.dim_type.set, at + 1, domain.dim(isl.dim_type.set) - at - 1)
    values = values.project_out(isl.dim_type.set, 0, at)
    for _, piece in end.get_pieces():
        bound = isl.Set.from_pw_aff(isl.PwAff.from_aff(piece)).intersect_params(domain.params())
        pairs = values.flat_product(bound)
        beyond = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"{{ [x, e] : x {'>' if last else '<'} e }}")
        form = affine_sum(isl.PwAff.from_aff(piece), domain.params())
        if form is not None and pairs.intersect(beyond).is_empty():
            return form
    return None


def number(form: Polynomial, values: Mapping[str, int]) -> int:
    """The value of a sum; a number, or a size that only the running program knows."""
    total = 0
    for monomial, factor in form.items():
        product = factor
        for name in monomial:
            product = (_quotient(name, values) if isinstance(name, Quotient) else values[name]) * product
        total = product + total
    return total


def _quotient(name: Quotient, values: Mapping[str, int]) -> int:
    """What sizes divide, rounded down, in operations on numbers that are not negative."""
    over = number(name.over, values)
    return over // name.by if over >= 0 else -((-over + (name.by - 1)) // name.by)
