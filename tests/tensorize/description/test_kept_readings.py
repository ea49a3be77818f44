"""Readings that a process keeps are those that another one loads, and a damaged file is parsed again."""

import subprocess
import sys
from pathlib import Path

import pytest

from polysched.target.build_cache import program_key
from polysched.tensorize.description import kept_readings, reading
from polysched.tensorize.intrinsics.shipped import shipped

TEXT = "void once(int32_t C[4], const int32_t A[4]) { for (int i = 0; i < 4; i++) C[i] = A[i] + 1; }"
COUNT_PARSES = """
from polysched.records import whole
from polysched.tensorize.description import reading
made, plain = [], reading.c_parser.CParser.parse
def counted(self, *given):
    made.append(1)
    return plain(self, *given)
reading.c_parser.CParser.parse = counted
from polysched.tensorize.intrinsics.shipped import shipped_for_x86
print(len(shipped_for_x86()), len({whole(i.parsed) for i in shipped_for_x86()}), len(made))
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_remembered", {})


def in_a_process() -> list[int]:
    done = subprocess.run([sys.executable, "-c", COUNT_PARSES], capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


def entry(cache: Path) -> Path:
    return cache / kept_readings.KIND / program_key({"readings": "some"}) / kept_readings.FILE


def test_a_second_process_parses_nothing(cache: Path) -> None:
    count, different, parsed = in_a_process()
    assert parsed >= different > 0
    assert in_a_process() == [count, different, 0]


@pytest.mark.parametrize("damage", [b"", b"\x80\x05garbage", b"cos\nno_such_name\n."])
def test_a_damaged_file_is_made_again(cache: Path, nothing_remembered: None, damage: bytes) -> None:
    for _ in range(2):
        kept_readings.keep("some", {TEXT: reading.parse(TEXT)})
        assert kept_readings.recall("some")
        entry(cache).write_bytes(damage)
        assert not kept_readings.recall("some")
        assert not entry(cache).exists()


def test_a_file_that_others_can_write_is_not_loaded(cache: Path, nothing_remembered: None) -> None:
    kept_readings.keep("some", {TEXT: reading.parse(TEXT)})
    entry(cache).parent.chmod(0o777)
    assert not kept_readings.recall("some")


def test_what_is_kept_equals_what_is_parsed(cache: Path, nothing_remembered: None) -> None:
    kept_readings.keep("some", {i.semantics: i.parsed for i in shipped()})
    assert kept_readings.recall("some")
    reading.parse.cache_clear()
    for instruction in shipped():
        text = instruction.semantics
        assert reading.parse(text) == reading._remembered[text]
        del reading._remembered[text]
        reading.parse.cache_clear()
        assert reading.parse(text) == instruction.parsed


def test_nothing_kept_is_nothing_known(cache: Path, nothing_remembered: None) -> None:
    assert not kept_readings.recall("never kept")
    assert reading.parse(TEXT).name == "once"


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path / "file"))
    kept_readings.keep("some", {TEXT: reading.parse(TEXT)})
    assert not kept_readings.recall("some")
