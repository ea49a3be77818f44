"""Programs that once came out wrong, made small."""

from __future__ import annotations

import re
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
    ("bound_named_twice", Configuration(scheduler="pluto", sizes=(10, 10, 10), vector_bits=128)),
    ("strided_loop_kept", Configuration(scheduler="isl", safe=True)),
    ("temporary_counted_down", Configuration(scheduler="pluto", sizes=3, vector_bits=512, reductions="exact",
                                             parallel_degrees=2)),
    ("flow_of_strides", Configuration(scheduler="original")),
    ("narrow_maximum", Configuration(scheduler="pluto", sizes=(3, 2), reductions="exact")),
    ("team_for_cut_rows", Configuration(scheduler="pluto", vector_bits=256)),
    ("lanes_update_one_element", Configuration(scheduler="original", vector_bits=128)),
    ("declared_beside_itself", Configuration(scheduler="original")),
    ("strides_longer_than_rows", Configuration(scheduler="pluto", sizes="auto", vector_bits=128)),
    ("strides_of_two_loops", Configuration(scheduler="feautrier")),
    ("lost_divisions", Configuration(scheduler="pluto", sizes=2)),
    ("panel_end_moves", Configuration(scheduler="strategy", strategy_seed=7475, sizes="auto", vector_bits=512,
                                      reductions="exact")),
]


@pytest.mark.parametrize(("name", "configuration"), CASES)
def test_a_program_that_was_wrong_is_right(name: str, configuration: Configuration) -> None:
    subject = prepare(name, (FOLDER / f"{name}.c").read_text(), [configuration])
    assert isinstance(subject, Subject), subject
    findings = check([subject], {name: Plan(run=SIZES, small=SIZES[:1])}, compiler=find_compiler())
    assert not findings, "\n".join(f"{f.configuration} {f.kind}: {f.detail}" for f in findings)


def test_no_declaration_names_itself() -> None:
    configuration = Configuration(scheduler="pluto", sizes=(10, 10, 10), vector_bits=128)
    subject = prepare("bound_named_twice", (FOLDER / "bound_named_twice.c").read_text(), [configuration])
    assert isinstance(subject, Subject), subject
    declared = re.findall(r"const long (\w+) = (.*);", subject.versions[1].text)
    assert len(declared) > 10
    assert not [(name, value) for name, value in declared if re.search(rf"\b{name}\b", value)]


def test_every_saved_program_is_tried() -> None:
    tried = {case.values[0] if hasattr(case, "values") else case[0] for case in CASES}
    assert tried == {path.stem for path in FOLDER.glob("*.c")}
