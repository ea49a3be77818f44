"""Rules for temporaries: a producer inlined into its consumer, or computed in an outer loop of a fusible one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polysched.dependence.dependences import Dependences
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.scheduling.primitives import ComputeAt
from polysched.scop.scop import Scop, Statement, Storage
from polysched.search.chooser import Chooser

APART = "none"
"""The policy of fusion under which producer and consumer have loops of their own, as `ComputeAt` wants them."""


@dataclass(frozen=True)
class Producer:
    """A statement that alone computes a temporary, which one other statement reads.

    Parameters
    ----------
    statement, consumer : their names.
    loops : the iterators of the consumer, outermost first; at least one.
    """

    statement: str
    consumer: str
    loops: tuple[str, ...]

    def inside(self, loop: str) -> ComputeAt:
        """The step that computes the producer in a loop of its consumer, what that iteration reads."""
        return ComputeAt(producer=self.statement, loop=f"{self.consumer}.{loop}")


def producers(scop: Scop) -> Iterator[Producer]:
    """The producers of a program, in its order; of temporaries only, and none that reads its own results."""
    for array in scop.arrays:
        if array.storage is not Storage.LOCAL:
            continue
        writers = [s for s in scop.statements if any(a.array == array.name for a in s.writes)]
        readers = [s for s in scop.statements if any(a.array == array.name for a in s.reads)]
        if len(writers) == len(readers) == 1 and writers != readers and _alone(writers[0]) and readers[0].iterators:
            yield Producer(writers[0].name, readers[0].name, tuple(readers[0].iterators))


def _alone(statement: Statement) -> bool:
    """Whether all that a statement writes is one element."""
    return len(statement.writes) == 1


def inline(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """Per producer: loops of its own, or computed where each of its values is used."""
    for producer in producers(dependences.scop):
        recipe = _placed(choose, f"inline {producer.statement}", recipe, producer, producer.loops[-1:])
    return recipe


def fusible_consumer(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """Per producer that is not inlined: loops of its own, or computed in one of the outer loops of its consumer."""
    placed = {step.producer for step in recipe.steps if isinstance(step, ComputeAt)}
    for producer in producers(dependences.scop):
        if producer.statement not in placed and len(producer.loops) > 1:
            recipe = _placed(choose, f"{producer.statement} inside {producer.consumer}", recipe, producer,
                             producer.loops[:-1])
    return recipe


def _placed(choose: Chooser, name: str, recipe: Recipe, producer: Producer, loops: tuple[str, ...]) -> Recipe:
    """One of the loops, or none; what makes no legal schedule is not offered."""
    rows = {"apart": recipe}
    rows |= {loop: replace(recipe, fusion=APART, steps=(*recipe.steps, producer.inside(loop))) for loop in loops}
    return choose.scheduled(name, rows)


__all__ = ["Producer", "fusible_consumer", "inline", "producers"]
