"""Whether the three readings of a text agree, bit for bit: host compiler, Python emulator, contraction.

They share no code; the plain C that is printed for emitted programs is compared as well.  Where the contraction rounds
floats otherwise than the text (its traits, sums in another order), it is compared on whole numbers of few bits, on
which nothing rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np

from polysched.errors import BudgetExceededError, SourceSyntaxError
from polysched.records import dataclass
from polysched.scop.body import Call, walk
from polysched.tensorize.description.contraction import Contraction
from polysched.tensorize.description.contraction_value import evaluate_contraction
from polysched.tensorize.description.derivation import derive
from polysched.tensorize.description.field_proof import differing_element
from polysched.tensorize.description.host_execution import run_on_host
from polysched.tensorize.description.inputs import Filling, Operands, first_difference, operands_of
from polysched.tensorize.description.python_emulator import MOST_ASSIGNMENTS, emulated, run_emulated
from polysched.tensorize.description.reading import parse
from polysched.tensorize.description.semantics import Item, Loop, Semantics
from polysched.tensorize.limits import LIMITS

HOST_TRIALS = LIMITS.host_trials
EMULATED_STEPS = LIMITS.emulated_steps
MOST_EMULATED_TRIALS = LIMITS.most_emulated_trials
ODD_SIZES = (3, 2, 5, 4)       # of the sizes of a library function, in order


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """What the comparison found.

    Parameters
    ----------
    host, emulator, contraction : executions of each reading that were compared with the host's.
    difference : the first one, or "".
    """

    name: str
    host: int
    emulator: int
    contraction: int
    difference: str = ""

    def __str__(self) -> str:
        found = self.difference or "agree"
        return (f"{self.name}: {self.host} executions of the host, {self.emulator} of the emulator, {self.contraction} "
                f"of the contraction: {found}")


def agree(text: str, *, trials: int = HOST_TRIALS, steps: int = EMULATED_STEPS, seed: int = 1) -> Agreement:
    """Compare the readings of a text on random and corner operands.

    Parameters
    ----------
    trials : executions per filling by host and contraction.
    steps : assignments that the emulator makes, which bounds its executions.

    Raises
    ------
    SourceSyntaxError : a reading refuses the text.
    UndefinedDescriptionError : some operands make it do what C leaves undefined; the witness is the sub-expression.
    """
    semantics = parse(text)
    contractions = _contractions(semantics)
    sizes = dict(zip(semantics.sizes, ODD_SIZES, strict=False))
    emulator = emulated(text)
    cost = _affordable(semantics, sizes)
    once = max(1, min(MOST_EMULATED_TRIALS, trials, steps // (cost * len(Filling))))
    made = {filling: operands_of(semantics, filling, trials, seed, sizes) for filling in Filling}
    counted = dict.fromkeys(("emulator", "contraction"), 0)
    by_emulator = [[run_emulated(emulator, _row(rows, t), _written(semantics), sizes) for t in range(once)]
                   for rows in made.values()]   # first: what is undefined has to be found before it is executed
    everything = {n: np.concatenate([rows[n] for rows in made.values()]) for n in made[Filling.BITS]}
    results = run_on_host(semantics, everything, sizes)
    found = [_compared(semantics, results.text, results.printed, "the printed C", "all operands")]
    for at, ((filling, rows), one_by_one) in enumerate(zip(made.items(), by_emulator, strict=True)):
        host = {n: v[at * trials:(at + 1) * trials] for n, v in results.text.items()}
        counted["emulator"] += once
        found += [_compared(semantics, _row(host, t), out, "the Python emulator", filling.value)
                  for t, out in enumerate(one_by_one)]
        for contraction in contractions:
            if filling is Filling.EXACT or not _rounds_anew(contraction):
                counted["contraction"] += trials
                evaluated = evaluate_contraction(semantics, contraction, rows, sizes)
                found.append(_compared(semantics, host, evaluated, "the contraction", filling.value))
    return Agreement(name=semantics.name, host=trials * len(Filling), **counted,
                     difference=next(filter(None, found), ""))


@lru_cache(maxsize=4096)
def require_agreement(text: str) -> Agreement:
    """The agreement of a text, looked for once per process.

    Raises
    ------
    SourceSyntaxError : the readings differ, or the contraction is another function; see `agree`.
    """
    semantics = parse(text)
    sizes = dict(zip(semantics.sizes, ODD_SIZES, strict=False))
    _affordable(semantics, sizes)
    differing = [differing_element(semantics, c, sizes=sizes) for c in _contractions(semantics)]
    if differ := next(filter(None, differing), ""):
        raise SourceSyntaxError("the text is not one loop nest around one update, nor stages one behind the other",
                                where=semantics.name, witness=f"as one of these it gives {differ} another value",
                                hint="each element that is written gets all of its updates in one nest; others are "
                                "written to operands of their own")
    found = agree(text)
    if found.difference:
        raise SourceSyntaxError("the readings of the text disagree", where=semantics.name, witness=found.difference,
                                hint="say it in simpler words; which reading is right, the manual says")
    return found


def _contractions(semantics: Semantics) -> tuple[Contraction, ...]:
    """What the matcher reads: sums in one form and, where it is another, as the text writes them."""
    return tuple(dict.fromkeys(derive(semantics, as_written=way) for way in (False, True)))


def _written(semantics: Semantics) -> list[str]:
    return [v.name for v in semantics.operands if v.written]


def _row(rows: Operands, trial: int) -> Operands:
    return {n: v[trial] for n, v in rows.items()}


def _rounds_anew(contraction: Contraction) -> bool:
    return contraction.rounds_anew or any(isinstance(e, Call) and e.dtype.is_float and not contraction.whole
                                          for s in contraction.stages for r in s.results for e in walk(r.update))


def _compared(semantics: Semantics, host: Operands, other: Operands, reading: str, filling: str) -> str:
    """The first element that differs; "" where none does."""
    for name, values in host.items():
        at = first_difference(semantics.operand(name).dtype, values, other[name])
        if at >= 0:
            return (f"{reading} against the host on {filling}, {name} value {at}: "
                    f"{other[name].ravel()[at]} instead of {values.ravel()[at]}")
    return ""


def _affordable(semantics: Semantics, sizes: Mapping[str, int]) -> int:
    """Assignments of one execution.

    Raises
    ------
    BudgetExceededError : more than the readings can make for a comparison.
    """
    count = _assignments(semantics, sizes)
    if count > MOST_ASSIGNMENTS:
        raise BudgetExceededError(f"one execution makes more than {MOST_ASSIGNMENTS} assignments", where=semantics.name,
                                  witness=f"{count} assignments", hint="describe a smaller unit")
    return max(1, count)


def _assignments(semantics: Semantics, sizes: Mapping[str, int]) -> int:
    """Iterations of all loops of a text, as boxes."""
    def below(items: tuple[Item, ...], around: int) -> Iterator[int]:
        for item in items:
            if isinstance(item, Loop):
                extent = sizes[item.extent] if isinstance(item.extent, str) else item.extent
                yield from below(item.body, around * extent)
            else:
                yield around

    return sum(below(semantics.body, 1))


__all__ = ["Agreement", "agree", "require_agreement"]
