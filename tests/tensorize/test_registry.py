"""Instructions and functions by name, and files of a user's own: what they define, and why one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.errors import PolyschedError, SourceSyntaxError, UsageError
from polysched.tensorize.registry import FUNCTIONS, find_function, find_intrinsic, load_intrinsics
from tests.emit_c.alternatives.matched_programs import LANES

FILE = '''from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, Operand, Register
LANES = Register(c_type="int", load="", store="", zero="")
def made(name, text, *operands):
    return Intrinsic(name=name, isa=Isa(name="mine", machine="none", manual="none"), section="none", template="-",
                     cost=Cost(issue_cycles=1, latency_cycles=1), semantics=text,
                     operands=tuple(Operand(name=o, register=LANES) for o in operands))
GOOD = made("good", "void good(int32_t C[4], const int32_t A[4]) {{ for (int i = 0; i < 4; i++) C[i] += A[i]; }}",
            "C", "A")
{more}
'''
IDLE = ('IDLE = made("idle", "void idle(int32_t C[4], const int32_t A[4], const int32_t B[4]) '
        '{ for (int i = 0; i < 4; i++) C[i] += A[i]; }", "C", "A", "B")')


def path(folder: Path, more: str = "") -> str:
    file = folder / "mine.py"
    file.write_text(FILE.replace("{more}", more).replace("{{", "{").replace("}}", "}"))
    return str(file)


def test_names() -> None:
    assert find_intrinsic("vpdpbusd").name == "vpdpbusd"
    assert find_intrinsic("lanes", also={"lanes": LANES}) is LANES
    assert find_function(next(iter(FUNCTIONS))) is not None
    assert find_function("nothing") is None


def test_a_name_that_is_none_has_neighbours() -> None:
    with pytest.raises(UsageError, match="no intrinsic is called 'vpdpbus'") as refused:
        find_intrinsic("vpdpbus")
    assert "vpdpbusd" in refused.value.hint
    with pytest.raises(UsageError) as refused:
        find_intrinsic("qqqqqq")
    assert "--intrinsics" in refused.value.hint


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    assert list(load_intrinsics(path(tmp_path))) == ["good"]


def test_an_operand_without_a_part_is_refused_unless_another_is_wanted(
        tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(SourceSyntaxError, match="does not depend on operand B"):
        load_intrinsics(path(tmp_path, IDLE))
    assert list(load_intrinsics(path(tmp_path, IDLE), wanted="good")) == ["good"]
    assert "idle of" in caplog.text


def test_what_a_file_leaves_out_is_told_once_for_each_of_its_texts(
        tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = path(tmp_path, IDLE)
    first = load_intrinsics(file, wanted="good")
    assert load_intrinsics(file, wanted="good")["good"] is first.pop("good")
    assert len(caplog.records) == 1
    Path(file).write_text(Path(file).read_text().replace('"good"', '"best"'))
    assert list(load_intrinsics(file, wanted="best")) == ["best"]
    assert len(caplog.records) == 2


@pytest.mark.parametrize("text", ["x = 3\n", "this is no Python\n", "raise KeyError\n"])
def test_files_without_an_instruction(text: str, tmp_path: Path) -> None:
    file = tmp_path / "other.py"
    file.write_text(text)
    with pytest.raises(PolyschedError):
        load_intrinsics(str(file))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        load_intrinsics(str(tmp_path / "none.py"))
