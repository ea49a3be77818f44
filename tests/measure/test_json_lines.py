"""Files of JSON lines: unfinished lines are closed and skipped, and what is no results file is refused."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from polysched.errors import OutputError, UsageError
from polysched.measure.json_lines import append_line, read_lines


def test_lines_come_back_with_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    append_line(path, {"a": 1})
    append_line(path, {"b": [1.5, None, "ü"]})
    assert list(read_lines(path)) == [(1, {"a": 1}), (2, {"b": [1.5, None, "ü"]})]


def test_a_line_that_was_cut_off_is_closed_and_skipped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"a": 1}\n{"b": ')
    append_line(path, {"c": 3})
    assert list(read_lines(path)) == [(1, {"a": 1}), (3, {"c": 3})]
    assert ":2: an unfinished line was skipped" in caplog.text


def test_empty_lines_are_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'\n{"a": 1}\n\n')
    assert list(read_lines(path)) == [(2, {"a": 1})]


@pytest.mark.parametrize("content", [b"some text\nand more\n", b'{"a": 1}\n[1, 2]\n'])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="not a results file"):
        list(read_lines(path))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_lines(tmp_path / "none.jsonl"))
    with pytest.raises(OutputError, match="cannot be written"):
        append_line(tmp_path / "no" / "folder.jsonl", {})


def test_numbers_that_json_does_not_have_are_no_results(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        append_line(tmp_path / "r.jsonl", {"a": float("nan")})
    assert not (tmp_path / "r.jsonl").exists()


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    threads = [threading.Thread(target=lambda k=k: [append_line(path, {"k": k, "n": n}) for n in range(20)])
               for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = sorted((value["k"], value["n"]) for _, value in read_lines(path))
    assert found == [(k, n) for k in range(4) for n in range(20)]
