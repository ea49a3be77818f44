"""Distributed programs on ranks of this machine, everything poisoned that a rank must not read."""

from dataclasses import replace
from pathlib import Path

import pytest

from polysched.distribute import Partition
from polysched.errors import NoCompilerError, RunFailedError
from polysched.measure.paired import MeasureOptions, Subject
from polysched.measure.processes.isolation import Limits
from polysched.measure.ranks import mpi_command, run_on_ranks
from polysched.pipeline.whole_files.distributed import distribute_file
from tests.distribute.programs import PROGRAMS, SIZES
from tests.measure.mpi import needs_mpi

POISON = ("-DPOLYSCHED_POISON", "-O1")


def subject_of(name: str, folder: Path, partition: Partition | None = None, *, time_tile: int = 1,
               overlap: bool = False) -> Subject:
    arguments, body = PROGRAMS[name]
    file = folder / f"{name}.c"
    file.write_text(f"void f({arguments}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    made = distribute_file(file, "i", partition=partition, time_tile=time_tile, overlap=overlap)
    return Subject(scops=tuple(r.scop for r in made.regions), transformed_text=made.text)


def sizes_of(name: str) -> dict[str, int]:
    return {n: 4 * value for n, value in SIZES.items() if f"int {n}" in PROGRAMS[name][0]}


@needs_mpi
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_rank_has_the_sequential_results(name: str, tmp_path: Path) -> None:
    found = run_on_ranks(subject_of(name, tmp_path), 3, sizes_of(name), repeats=2, defines=POISON)
    assert not found.wrong
    assert found.gathered_messages > 0
    assert (found.step_bytes > 0) == (name != "product")


@needs_mpi
@pytest.mark.parametrize("name", ["lu", "floyd"])
def test_rows_dealt_out_one_by_one(name: str, tmp_path: Path) -> None:
    found = run_on_ranks(subject_of(name, tmp_path, Partition(kind="cyclic", ranks=2)), 2, sizes_of(name), repeats=1,
                         defines=POISON)
    assert not found.wrong


@needs_mpi
@pytest.mark.parametrize("overlap", [False, True])
# of seidel and conditional some steps send nothing
@pytest.mark.parametrize(("name", "share"), [("jacobi", 8), ("seidel", 3), ("conditional", 6)])
def test_time_tiles_send_fewer_messages(name: str, share: int, overlap: bool, tmp_path: Path) -> None:
    sizes = {"n": 29, "t": 16}
    each = run_on_ranks(subject_of(name, tmp_path), 3, sizes, repeats=1, defines=POISON)
    tiled = run_on_ranks(subject_of(name, tmp_path, time_tile=8, overlap=overlap), 3, sizes, repeats=2, defines=POISON)
    assert not tiled.wrong
    assert 0 < share * tiled.step_messages <= each.step_messages


@needs_mpi
@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in ("product", "floyd")])
def test_messages_on_their_way_change_no_result(name: str, tmp_path: Path) -> None:
    subject = subject_of(name, tmp_path, overlap=True)
    assert not run_on_ranks(subject, 3, sizes_of(name), repeats=2, defines=POISON).wrong


@needs_mpi
def test_values_that_do_not_arrive_are_seen(tmp_path: Path) -> None:
    subject = subject_of("jacobi", tmp_path)
    broken = subject.transformed_text.replace("memcpy(to, polysched_taken(from, bytes), bytes);",
                                              "(void)to; polysched_taken(from, bytes);")
    assert broken != subject.transformed_text
    found = run_on_ranks(replace(subject, transformed_text=broken), 2, sizes_of("jacobi"), repeats=1, defines=POISON)
    assert any("wrong elements on a rank" in line for line in found.wrong)


@needs_mpi
def test_a_message_of_another_size_is_told(tmp_path: Path) -> None:
    subject = subject_of("jacobi", tmp_path)
    broken = subject.transformed_text.replace("b->taken += bytes;", "b->taken += bytes + 1;")
    with pytest.raises(RunFailedError, match="of 2 ranks ended well"):
        run_on_ranks(replace(subject, transformed_text=broken), 2, sizes_of("jacobi"), repeats=1, defines=POISON)


@needs_mpi
def test_a_rank_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    subject = subject_of("product", tmp_path)
    text = subject.transformed_text.replace("polysched_exchange(1);", "for (;;) {}")
    hanging = replace(subject, transformed_text=text)
    options = MeasureOptions(threads=1, limits=Limits(seconds=1))
    with pytest.raises(RunFailedError, match="did not end within 1 second"):
        run_on_ranks(hanging, 2, sizes_of("product"), options=options, repeats=1)


def test_without_mpi_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polysched.measure.ranks.shutil.which", lambda name: None)
    monkeypatch.setattr("polysched.measure.ranks.sys.executable", "/nowhere/python")
    with pytest.raises(NoCompilerError, match="there is no mpicc"):
        mpi_command("mpicc")
