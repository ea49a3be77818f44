"""What a user decides about an accelerator with buffers of its own."""

from __future__ import annotations

from polysched.errors import UsageError
from polysched.records import dataclass


@dataclass(frozen=True, kw_only=True)
class ScratchpadOptions:
    """Decisions by hand.

    Parameters
    ----------
    tiles : edges of tiles by group, in the order of its coordinates; what is left out the model chooses.
    double_buffering : loads of a tile run while the tile in front of it is computed.
    share : nests may share tiles, so that what one computes stays on the chip for the next.

    Raises
    ------
    UsageError : an edge below 1.
    """

    tiles: tuple[tuple[str, tuple[int, ...]], ...] = ()
    double_buffering: bool = True
    share: bool = True

    def __post_init__(self) -> None:
        for group, edges in self.tiles:
            if any(edge < 1 for edge in edges):
                raise UsageError("edges of tiles are at least 1", witness=f"{group}: {'x'.join(map(str, edges))}")

    def edges(self, group: str) -> tuple[int, ...]:
        """The edges for a group; empty where the model chooses them."""
        return dict(self.tiles).get(group, dict(self.tiles).get("", ()))
