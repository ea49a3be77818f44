"""The answers: which dependences keep a loop from being something, with a pair of instances and what removes each."""

from __future__ import annotations

from enum import Enum
from typing import Any

from polysched.dependence.dependences import Dependence
from polysched.dependence.legality import Violation
from polysched.dependence.questions.program_loops import ProgramLoop
from polysched.records import dataclass
from polysched.scop.shown import Shown


class Wish(Enum):
    """What a loop may be wanted to become."""

    PARALLEL = "parallel"
    LANES = "lanes"
    INTERCHANGE = "interchange"
    TILES = "tiles"


@dataclass(frozen=True, kw_only=True)
class Removal:
    """A change after which a dependence no longer prevents what was wanted; it was tried, and judged exactly.

    Parameters
    ----------
    means : `expansion`, `reduction`, `reversal` or `skewing`.
    text : what to do, in words.
    """

    means: str
    text: str

    def __str__(self) -> str:
        return f"{self.means}: {self.text}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Block:
    """One dependence that prevents something.

    Parameters
    ----------
    wish : what it prevents.
    is_outside : an interchange with the loop around, not with the one inside.
    dependence : its relation holds the pairs that prevent it, and no others.
    witness : the lexicographically least of these pairs, at the least sizes that have one.
    distance : by how much the loop's counter differs between the two instances of a pair at least; None where that is
        no number.
    has_gaps : the counter never takes two values in a row, as in `i += 2`: the distance counts no iterations.
    removals : what would remove it; empty where nothing that was tried does.
    """

    wish: Wish
    dependence: Dependence
    witness: Violation
    distance: int | None = None
    has_gaps: bool = False
    is_outside: bool = False
    removals: tuple[Removal, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """Which dependence it is, whatever its relation."""
        return key_of(self.dependence)

    def __str__(self) -> str:
        pair = self.dependence
        lines = [f"{pair.kind.value} {pair.source_reference} -> {pair.sink_reference} on {pair.array}{self._far()}",
                 f"  {self.witness}", *(f"  removed by {removal}" for removal in self.removals)]
        return "\n".join(lines if self.removals else [*lines, "  nothing that was tried removes it"])

    def _far(self) -> str:
        if self.distance is None:
            return ""
        if self.has_gaps:
            return f", {self.distance} apart in the loop's counter"
        return f", {self.distance} iteration{'' if self.distance == 1 else 's'} apart"

    def to_json(self) -> dict[str, Any]:
        """Plain values; the relation in isl notation."""
        pair, witness = self.dependence, self.witness
        return {"kind": pair.kind.value, "array": pair.array, "source": pair.source, "sink": pair.sink,
                "source_reference": pair.source_reference, "sink_reference": pair.sink_reference,
                "relation": str(pair.relation), "distance": self.distance,
                "pair": {"parameters": witness.parameters, "source": list(witness.source),
                         "sink": list(witness.sink)},
                "removed_by": [{"means": r.means, "text": r.text} for r in self.removals]}


def key_of(pair: Dependence) -> tuple[str, str, str]:
    """A dependence by kind and references."""
    return pair.kind.value, pair.source_reference, pair.sink_reference


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer:
    """What prevents one thing.

    Parameters
    ----------
    wish : the thing.
    beside : the other loops that take part, outermost first.
    blocks : the dependences; none means that nothing prevents it, unless `obstacle` says otherwise.
    obstacle : what else does: the shape of the nest; empty where nothing does.
    """

    wish: Wish
    beside: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    obstacle: str = ""

    @property
    def title(self) -> str:
        """For instance `interchange with j`."""
        join = {Wish.INTERCHANGE: " with ", Wish.TILES: " of "}.get(self.wish, "")
        return f"{self.wish.value}{join}{', '.join(self.beside)}" if self.beside else self.wish.value

    def __str__(self) -> str:
        if self.obstacle:
            return f"{self.title}: {self.obstacle}"
        if not self.blocks:
            return f"{self.title}: nothing prevents it"
        count = len(self.blocks)
        head = f"{self.title}: {count} dependence{' prevents' if count == 1 else 's prevent'} it"
        return "\n".join([head, *(f"  {line}" for block in self.blocks for line in str(block).split("\n"))])

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"wish": self.wish.value, "beside": list(self.beside), "obstacle": self.obstacle or None,
                "blocks": [block.to_json() for block in self.blocks]}


@dataclass(frozen=True, eq=False, kw_only=True)
class LoopBlocks(Shown):
    """Everything that prevents a loop of the program as written from being more.

    Parameters
    ----------
    loop : the loop.
    answers : one per thing, and one per neighbour for an interchange.
    """

    loop: ProgramLoop
    answers: tuple[Answer, ...]

    def of(self, wish: Wish) -> tuple[Block, ...]:
        """The dependences that prevent one thing."""
        return tuple(block for answer in self.answers if answer.wish is wish for block in answer.blocks)

    def headline(self) -> str:
        """For instance `loop i around S0: 2 prevent parallel`."""
        counts = [(len(answer.blocks), answer.title) for answer in self.answers]
        told = ", ".join(f"{count} prevent{'s' * (count == 1)} {title}" for count, title in counts if count)
        return f"{self.loop}: {told or 'no dependence prevents anything'}"

    def __str__(self) -> str:
        return "\n".join([str(self.loop), *(f"  {line}" for a in self.answers for line in str(a).split("\n"))]) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"loop": self.loop.name, "statements": list(self.loop.statements), "line": self.loop.line or None,
                "answers": [answer.to_json() for answer in self.answers]}
