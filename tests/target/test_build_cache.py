"""The cache: what names an entry, that it is found again, and that processes do not disturb each other."""

import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.errors import OutputError
from polysched.target import find_compiler
from polysched.target.build_cache import cache_folder, entry_key, find_or_build, found

PROGRAM = """
import numpy as np, polysched
@polysched.kernel
def add(x, y):
    for i in range(len(x)):
        x[i] += y[i]
x = np.arange(9.0)
add(x, np.ones(9))
assert x.tolist() == [i + 1.0 for i in range(9)], x
"""


def test_an_entry_is_found_again(cache: Path) -> None:
    def scale(x):
        x *= 3
    for _ in range(2):
        x = np.ones(4)
        polysched.kernel(scale)(x)
        assert x.tolist() == [3.0] * 4
    (entry,) = cache.iterdir()
    assert sorted(p.name for p in entry.iterdir()) == ["entry.json", "kernel.c", "kernel.so"]


def test_types_options_and_source_name_different_entries(cache: Path) -> None:
    def scale(x):
        x *= 3

    def scale_more(x):
        x *= 4
    polysched.kernel(scale)(np.ones(4))
    polysched.kernel(scale)(np.ones(4, "float32"))
    polysched.kernel(scale, options=polysched.PipelineOptions(parallel=False))(np.ones(4))
    polysched.kernel(scale_more)(np.ones(4))
    assert len(list(cache.iterdir())) == 4


def test_a_deleted_or_broken_entry_is_built_again(cache: Path) -> None:
    def scale(x):
        x *= 3
    polysched.kernel(scale)(np.ones(4))
    (entry,) = cache.iterdir()
    library = entry / "kernel.so"
    library.unlink()
    library.write_bytes(b"not a library")
    x = np.ones(4)
    polysched.kernel(scale)(x)
    assert x.tolist() == [3.0] * 4


def test_concurrent_processes_share_one_entry(cache: Path, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(Path(polysched.__file__).parents[1])}
    running = [subprocess.Popen([sys.executable, str(script)], env=environment, stderr=subprocess.PIPE)
               for _ in range(2)]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    assert len(list(cache.iterdir())) == 1


def test_a_build_that_fails_leaves_nothing(cache: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "half").write_text("")
        raise RuntimeError("stopped")
    with pytest.raises(RuntimeError, match="stopped"):
        find_or_build("key", build)
    assert list(cache.iterdir()) == []


def test_the_first_to_finish_wins(cache: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "own").write_text("")
        other = cache / "key"
        other.mkdir()
        (other / "theirs").write_text("")
    assert [p.name for p in find_or_build("key", build).iterdir()] == ["theirs"]


def test_where_the_cache_is(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_folder() == cache
    monkeypatch.delenv("POLYSCHED_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "polysched" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "polysched" / "kernels"


def test_a_cache_that_cannot_be_written_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(file))
    with pytest.raises(OutputError, match="the cache of compiled kernels cannot be written"):
        find_or_build("key", lambda folder: None)


def test_the_compiler_is_part_of_the_key() -> None:
    compiler = find_compiler()
    assert entry_key({}, compiler) != entry_key({}, replace(compiler, version="another"))


def test_the_folder_is_its_users_alone(cache: Path) -> None:
    cache.mkdir(mode=0o777)
    cache.chmod(0o777)
    find_or_build("key", lambda folder: None)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert stat.S_IMODE((cache / "key").stat().st_mode) == 0o700


def test_an_entry_that_others_could_have_written_is_built_again(cache: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "own").write_text("")
    find_or_build("key", build)
    (cache / "key" / "theirs").write_text("")
    assert found("key") == cache / "key"
    (cache / "key").chmod(0o770)
    assert found("key") is None
    assert [p.name for p in find_or_build("key", build).iterdir()] == ["own"]


def test_a_link_is_no_entry(cache: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    cache.mkdir(mode=0o700)
    (cache / "key").symlink_to(elsewhere)
    assert found("key") is None
    assert not find_or_build("key", lambda folder: None).is_symlink()
    assert elsewhere.is_dir()


def test_an_entry_of_another_user_is_not_loaded(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_or_build("key", lambda folder: None)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert found("key") is None
    with pytest.raises(OutputError, match="the folder belongs to user"):
        find_or_build("key", lambda folder: None)
