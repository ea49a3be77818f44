"""Programs that once came out wrong, made small."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.fuzz.checking import Plan, Subject, check, prepare
from polysched.fuzz.configuration import Configuration
from polysched.target import find_compiler

FOLDER = Path(__file__).parent / "regressions"
SIZES = ({"n": 8, "m": 6}, {"n": 13, "m": 11})
CASES = [
    ("strided_tiles", Configuration(scheduler="pluto", sizes=(2, 3))),
    ("strided_tiles", Configuration(scheduler="pluto")),
    ("strided_loop_kept", Configuration(scheduler="isl", safe=True)),
    ("team_for_cut_rows", Configuration(scheduler="pluto", vector_bits=256)),
]


@pytest.mark.parametrize(("name", "configuration"), CASES)
def test_a_program_that_was_wrong_is_right(name: str, configuration: Configuration) -> None:
    subject = prepare(name, (FOLDER / f"{name}.c").read_text(), [configuration])
    assert isinstance(subject, Subject), subject
    findings = check([subject], {name: Plan(run=SIZES, small=SIZES[:1])}, compiler=find_compiler())
    assert not findings, "\n".join(f"{f.configuration} {f.kind}: {f.detail}" for f in findings)


def test_every_saved_program_is_tried() -> None:
    tried = {case.values[0] if hasattr(case, "values") else case[0] for case in CASES}
    assert tried == {path.stem for path in FOLDER.glob("*.c")}
