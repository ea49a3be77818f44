"""Steps that ask later rooms for something: a band to be tiled, a register block, copies, split tiles, an instruction.

They leave the order as it is.  Their loops are named in the tree behind all steps; `scheduling.bands_by_hand` joins
them.
"""

from __future__ import annotations

from typing import ClassVar

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.primitives.loops import LoopRef
from polysched.scheduling.primitives.step import Step
from polysched.scheduling.tree.loop_tree import LoopTree


@dataclass(frozen=True, kw_only=True)
class BandStep(Step):
    """Loops that stand directly inside each other are one band, which the tiling room tiles as the options say.

    Refused unless every order of the loops is legal, so that tiles of them are.

    Parameters
    ----------
    loops : the loops, in any order, of the tree behind all steps.
    """

    NAME: ClassVar[str] = "band"
    loops: tuple[LoopRef, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.loops:
            raise UsageError(f"step {self.NAME} names no loop", hint='loops=("i", "j")')

    def rewrite(self, tree: LoopTree) -> LoopTree:
        """The tree as it is: what is asked for is done when it is tiled."""
        return tree


@dataclass(frozen=True, kw_only=True)
class RegisterBlock(BandStep):
    """Keep a block of accumulators of a band's loops in vector registers.

    Parameters
    ----------
    loops : of the band.
    rows, columns : of the block, in elements; 0 and 0 for none.
    """

    NAME: ClassVar[str] = "register_block"
    rows: int
    columns: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.rows, self.columns) != (0, 0) and min(self.rows, self.columns) < 1:
            raise UsageError("a register block has rows and columns", witness=f"{self.rows} x {self.columns}",
                             hint="rows=4, columns=16; both 0 for none")


@dataclass(frozen=True, kw_only=True)
class Pack(BandStep):
    """Read operands of a register block from contiguous copies.

    Parameters
    ----------
    loops : of the band.
    arrays : that are copied; none of them for no copies.
    """

    NAME: ClassVar[str] = "pack"
    arrays: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SplitTiles(BandStep):
    """Tiles over time as trapezoids, one for each core, with the gaps between them.

    Parameters
    ----------
    loops : of the band.
    """

    NAME: ClassVar[str] = "split_tiles"


@dataclass(frozen=True, kw_only=True)
class UseInstruction(Step):
    """Compute a statement with an instruction, verified beside the statement before it is used.

    Parameters
    ----------
    statement, name : which statement, by which instruction.
    loops : per dimension of the instruction the loops that go into it; empty for the best mapping.
    operands : the arrays that its inputs hold; empty for the best mapping.
    tiling, block : of the plan; empty for the model's.
    """

    NAME: ClassVar[str] = "instruction"
    statement: str
    name: str
    loops: tuple[tuple[str, ...], ...] = ()
    operands: tuple[str, ...] = ()
    tiling: str = ""
    block: int = 0

    def rewrite(self, tree: LoopTree) -> LoopTree:
        """The tree as it is: the instruction takes the place of the statement in the emitted code."""
        return tree
