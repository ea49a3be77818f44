"""Exchanges of operands and groups that leave an instruction as it is, and the mirror images that these make."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from polysched.scop.body import Expr, Load, rebuild
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.matching.assignment import Assignment
from polysched.tensorize.matching.encoding import Choice, groups
from polysched.tensorize.proofs.correspondence import is_shared
from polysched.tensorize.proofs.ideal import ideal_text

if TYPE_CHECKING:
    from polysched.tensorize.matching.mapping import Match

MOST_EXCHANGED = LIMITS.most_exchanged
Images: TypeAlias = Mapping[int, list[tuple[int, tuple[int, ...]]]]   # assignment -> others, and the order of groups


def mirror_images(table: tuple[Assignment, ...], intrinsic: Intrinsic) -> Images:
    """Per assignment those that an automorphism of the instruction makes of it, and where their groups come from.

    Only those that nothing hinders; an assignment stands in one list at most, and has none of its own then.
    """
    free = {tuple(sorted(a.texts.items())): at for at, a in enumerate(table) if not a.facts}
    found: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    known: set[int] = set()
    for at in free.values():
        for operands, places in automorphisms(intrinsic) if at not in known else ():
            image = free.get(tuple(sorted((operands[n], t) for n, t in table[at].texts.items())), at)
            if image != at and image not in known:
                known.add(image)
                found.setdefault(at, []).append((image, tuple(places.index(g) for g in range(len(places)))))
        known.add(at)
    return found


def with_images(choices: Iterator[Choice], images: Images) -> Iterator[Choice]:
    """Every solution, and behind it its mirror images."""
    for choice in choices:
        yield choice
        for at, order in images.get(choice.assignment, ()):
            yield Choice(at, tuple([choice.loops[g] for g in order]))


@lru_cache(maxsize=512)
def automorphisms(intrinsic: Intrinsic) -> list[tuple[dict[str, str], tuple[int, ...]]]:
    """Exchanges of input operands, with the exchange of groups they force, that leave the instruction as it is.

    Where instances share elements of an operand, only the one that exchanges nothing: groups index the same operands
    there without being alike.  So it is with many operands, several results or tables, whose exchanges are not looked
    through.
    """
    contraction, parts = intrinsic.contraction, groups(intrinsic)
    names = list(dict.fromkeys(e.array for e in contraction.inputs))
    if _is_kept(intrinsic, names):
        return [({v.name: v.name for v in intrinsic.parsed.operands}, tuple(range(len(parts))))]
    dtypes = dict(zip(names, contraction.input_dtypes, strict=True))
    found = []
    for image in itertools.permutations(names):
        swap = dict(zip(names, image, strict=True))
        if any(dtypes[a] != dtypes[b] for a, b in swap.items()):
            continue
        moved = [frozenset(swap.get(o, o) for o in g.indexes) for g in parts]
        places = tuple(next((i for i, g in enumerate(parts) if g.indexes == m and g.extent == parts[at].extent), -1)
                       for at, m in enumerate(moved))
        if -1 not in places and _commutes(contraction.update, contraction.inputs, swap):
            found.append((swap, places))
    return found


def _is_kept(intrinsic: Intrinsic, names: Sequence[str]) -> bool:
    """Whether no exchange is looked for."""
    contraction = intrinsic.contraction
    if contraction.others or contraction.tables or len(names) > MOST_EXCHANGED:
        return True
    return any(is_shared(intrinsic, n) for n in (contraction.output.array, *names))


def _commutes(update: Expr, inputs: tuple[Any, ...], swap: Mapping[str, str]) -> bool:
    by_name = {e.array: str(e) for e in inputs}
    references = {by_name[a]: by_name[b] for a, b in swap.items()}

    def rename(e: Expr) -> Expr:
        return Load(references.get(e.reference, e.reference), e.dtype) if isinstance(e, Load) else e

    return ideal_text(rebuild(update, rename), {}) == ideal_text(update, {})


def up_to_symmetry(found: list[Match], intrinsic: Intrinsic) -> Iterator[Match]:
    """Of every class under the instruction's automorphisms the cheapest; the count does not see layouts."""
    symmetries = automorphisms(intrinsic) if found else []
    if len(symmetries) <= 1:
        yield from found
        return
    sources = [tuple([places.index(g) for g in range(len(places))]) for _, places in symmetries]
    texts: dict[int, list[tuple[tuple[str, str], ...]]] = {}   # of an assignment under every symmetry
    numbers: dict[object, int] = {}   # of loops in a group, and of operands: they compare faster
    classes: dict[object, list[Match]] = {}
    for m in found:
        renamed = texts.get(id(m.assignment))
        if renamed is None:
            renamed = texts[id(m.assignment)] = [
                tuple(sorted((operands[n], t) for n, t in m.assignment.texts.items())) for operands, _ in symmetries]
        places = [numbers.setdefault(members, len(numbers)) for members in m.loops]
        images = [(numbers.setdefault(text, len(numbers)), *[places[g] for g in order])
                  for text, order in zip(renamed, sources, strict=True)]
        classes.setdefault((m.fragment.statement.name, min(images)), []).append(m)
    for members in classes.values():
        yield min(members, key=lambda m: m.cost_cycles)
