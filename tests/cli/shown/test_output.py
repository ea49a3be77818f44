"""Output files are replaced as a whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from polysched.cli.shown.output import prepared, refuse_same_file
from polysched.errors import OutputError, UsageError


def test_nothing_changes_before_the_text_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    with prepared(str(target)) as output:
        assert output is not None
        assert target.read_text() == "old"
        output.write("new")
    assert target.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    with pytest.raises(KeyboardInterrupt), prepared(str(target)):
        raise KeyboardInterrupt
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        with prepared(str(tmp_path / "out")) as output:
            assert output is not None
            output.write_json({"a": 1})
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640
    assert (tmp_path / "out").read_text() == '{\n  "a": 1\n}\n'


@pytest.mark.parametrize("name", ["missing/out", "."])
def test_what_cannot_be_written_is_refused_up_front(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match=r"cannot be written|is a folder"), prepared(str(tmp_path / name)):
        pytest.fail("the body must not run")


def test_dash_is_the_standard_output_and_no_name_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with prepared("-") as output, prepared(None) as nothing:
        assert output is not None
        assert nothing is None
        output.write("text")
    assert capsys.readouterr().out == "text"


def test_the_input_is_never_the_output(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OutputError, match="the output is the input file"):
        refuse_same_file(str(tmp_path / "a"), str(tmp_path / "b"))
    refuse_same_file(str(tmp_path / "a"), "-")
    refuse_same_file(str(tmp_path / "a"), None)


def test_the_standard_output_has_one_text() -> None:
    with prepared("-"):
        with pytest.raises(UsageError, match="two texts cannot both go to the standard output"), prepared("-"):
            raise AssertionError("never reached")
        with prepared(None):
            pass
    with prepared("-") as output:
        assert output is not None
