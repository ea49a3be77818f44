"""The limits of this sub-room: how much is tried for an accelerator, and how finely."""

from __future__ import annotations

from dataclasses import dataclass

from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class ScratchpadLimits:
    """By the module that asks for them."""

    # groups.py
    most_cut_nests: int = constant(
        5, unit="loop nests", source="in a row of which every way to share tiles is tried: 16 of them")

    # choice.py
    most_candidates: int = constant(
        200, unit="tiles", source="of a group that the model weighs; beyond, every other edge is left out")
    simulated: int = constant(
        6, unit="tiles", source="the best of them by the model, which are simulated")
    least_edge: int = constant(16, unit="iterations", source="of a tile of a cube: its own edge on both targets")

    # placement.py
    packing_seconds: float = constant(
        10.0, unit="s", source="for an exact packing of one memory; those of the experiments take a tenth of one")

    # simulation.py
    most_instructions: int = constant(
        400_000, unit="instructions", source="that are simulated, in about 10 s; beyond, the program is refused")


LIMITS = ScratchpadLimits()
