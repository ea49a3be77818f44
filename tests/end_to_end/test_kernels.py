"""Every kernel of the project in every configuration: compiled C, interpreter and order of the instances agree.

Each version runs at sizes around the tile edges (tile - 1, tile, tile + 1, a prime), different per parameter, so that a
mix-up of two sizes shows.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.fuzz.checking import Plan, Subject, check, prepare
from polysched.fuzz.configuration import Configuration
from polysched.target import find_compiler
from tests.tiers import and_campaign

KERNELS = sorted((Path(__file__).parents[1] / "kernels").glob("*.c"))
TILE = (3, 4, 5)
EVERYWHERE = (
    Configuration(scheduler="pluto", sizes=TILE),
    Configuration(scheduler="original", sizes=TILE),
    Configuration(scheduler="pluto", sizes="auto", vector_bits=256),
)
IN_TURN = (
    Configuration(scheduler="isl", sizes=TILE),
    Configuration(scheduler="feautrier"),
    Configuration(scheduler="pluto", sizes="off"),
    Configuration(scheduler="isl", sizes="off"),
    Configuration(scheduler="original", sizes="off"),
)
"""Two of these for every kernel; campaigns run the three others of each kernel."""
ENOUGH_OPERATIONS = 50_000_000
AROUND_THE_TILES = (4, 5, 3, 7, 2)
AROUND_THE_VECTORS = (33, 16, 31, 17)


def rotated(names: tuple[str, ...], values: tuple[int, ...]) -> list[dict[str, int]]:
    """Assignments in which every name gets every value once."""
    return [{name: values[(position + turn) % len(values)] for position, name in enumerate(names)}
            for turn in range(len(values))]


def in_turn(path: Path, steps: tuple[int, ...]) -> tuple[Configuration, ...]:
    """Some of the configurations that take turns."""
    return tuple(IN_TURN[(KERNELS.index(path) + step) % len(IN_TURN)] for step in steps)


@pytest.mark.parametrize(("path", "chosen"), and_campaign(
    [(path, (*EVERYWHERE, *in_turn(path, (0, 2)))) for path in KERNELS],
    [(path, in_turn(path, (1, 3, 4))) for path in KERNELS]),
    ids=lambda value: value.stem if isinstance(value, Path) else "often" if len(value) > 3 else "others")
def test_every_version_agrees(path: Path, chosen: tuple[Configuration, ...]) -> None:
    subject = prepare(path.stem, path.read_text(), chosen, operations=ENOUGH_OPERATIONS)
    assert isinstance(subject, Subject), subject
    names = tuple(p.spelling for p in subject.scop.parameters)
    around = rotated(names, AROUND_THE_TILES)
    plan = Plan(run=(*around, *rotated(names, AROUND_THE_VECTORS)[:2]), small=(around[0],), threads=(3,))
    findings = check([subject], {subject.name: plan}, compiler=find_compiler())
    assert not findings, "\n".join(f"{f.configuration} {f.kind}: {f.detail}" for f in findings)


def test_every_kernel_is_there() -> None:
    assert len(KERNELS) >= 34
