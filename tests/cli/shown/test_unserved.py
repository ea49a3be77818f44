"""Options that would do nothing beside others are refused in two lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.cli.entry import make_parser
from polysched.cli.shown.unserved import refuse_unserved
from polysched.errors import UsageError
from tests.cli.command import PRODUCT, polysched


def refused(*words: str, command: str = "c2c") -> str:
    """What is said of a command line; empty where it is taken."""
    try:
        refuse_unserved(make_parser().parse_args([command, "in.c", *words]))
    except UsageError as error:
        return error.problem
    return ""


@pytest.mark.parametrize(("words", "said"), [
    ("--target opencl --machine m.json", "--machine does nothing with --target opencl"),
    ("--target opencl --allow none", "--allow does nothing with --target opencl"),
    ("--target opencl --verify-order", "--verify-order does nothing with --target opencl"),
    ("--target mpi --distribute i --measure-plans", "--measure-plans does nothing with --target mpi"),
    ("--target mpi --distribute i --ranks 2", "--ranks does nothing where blocks are dealt out"),
    ("--allow none", "--allow belongs to --intrinsic"),
    ("--measure-plans", "--measure-plans belongs to --intrinsic"),
    ("--intrinsic none --intrinsics f.py", "--intrinsics does nothing with --intrinsic none"),
    ("--intrinsic none --size n=4", "--size does nothing"),
    ("--strategy s.json --scheduler isl", "--scheduler does nothing with --strategy"),
    ("--scheduler original --fusion max", "--fusion does nothing with --scheduler original"),
    ("--scheduler original --iss", "--iss does nothing with --scheduler original"),
    ("--scheduler isl --concurrent-start 1", "--concurrent-start does nothing with --scheduler isl"),
    ("--scheduler isl --fusion cost", "--fusion has only none and max with --scheduler isl"),
    ("--scheduler best --fusion max", "--fusion does nothing with --scheduler best"),
    ("--no-parallel --parallel-degrees 2", "--parallel-degrees does nothing with --no-parallel"),
    ("--no-parallel --split-tiles", "--split-tiles does nothing with --no-parallel"),
    ("--tile off --split-tiles", "--split-tiles does nothing with --tile off"),
    ("--vector-bits 0 --register-block 4x16", "--register-block does nothing with --vector-bits 0"),
    ("--vector-bits 0 --register-block 1:4x16", "--register-block does nothing with --vector-bits 0"),
    ("--no-parallel --no-split-tiles", "--no-split-tiles does nothing with --no-parallel"),
    ("--tile off --no-split-tiles", "--no-split-tiles does nothing with --tile off"),
    ("--scheduler best --fusion smart", "--fusion does nothing with --scheduler best"),
    ("--tile 32 --no-collapse", "--no-collapse does nothing where loops, tiles, vectors or an instruction"),
    ("--tile 1:32 --collapse", "--collapse does nothing where loops, tiles, vectors or an instruction"),
    ("--strategy s.json --no-collapse", "--no-collapse does nothing where loops"),
    ("--intrinsic auto --no-collapse", "--no-collapse does nothing where loops"),
    ("--target mpi --distribute i --tile 32 --no-collapse", "--no-collapse does nothing where loops"),
    ("--target opencl --no-collapse", "--no-collapse does nothing with --target opencl"),
    ("--target gemmini --no-portable", "--no-portable does nothing with --target davinci or gemmini"),
    ("--target mpi --distribute i --no-portable", "--no-portable does nothing with --target mpi"),
    ("--target mpi --distribute i --no-guard", "--no-guard does nothing with --target mpi"),
    ("--target mpi --distribute i --math libm", "--math does nothing with --target mpi"),
    ("--preemptible --no-portable", "--no-portable does nothing with --preemptible"),
    ("--preemptible --no-guard", "--no-guard does nothing with --preemptible"),
    ("--preemptible --no-expand", "--no-expand does nothing with --preemptible"),
    ("--preemptible --size n=4", "--size does nothing with --preemptible"),
    ("--database d.db --tile 32", "--database does nothing where loops, tiles or vectors are chosen by hand")])
def test_what_would_do_nothing_is_refused(words: str, said: str) -> None:
    assert refused(*words.split()).startswith(said)


@pytest.mark.parametrize("words", [
    "", "--no-parallel --tile 32", "--intrinsic auto --allow none --measure-plans", "--scheduler isl --fusion max",
    "--intrinsic none --size n=4 --json r.json", "--database d.db --assume n=100", "--target opencl --assume n=100",
    "--target mpi --distribute i --partition cyclic --ranks 2", "--strategy s.json --fusion max",
    "--no-split-tiles", "--vector-bits 0 --tile 32", "--scheduler original --tile 16", "--no-collapse", "--no-expand",
    "--intrinsic none --no-collapse", "--no-guard --no-portable --no-parallel", "--preemptible --no-parallel",
    "--target mpi --distribute i --no-collapse --no-expand", "--target opencl --no-guard --no-expand"])
def test_what_has_an_effect_is_taken(words: str) -> None:
    assert not refused(*words.split())


def test_run_has_a_use_for_sizes_and_for_pairs() -> None:
    assert not refused("--intrinsic", "none", "--size", "n=4", "--pairs", "3", command="run")
    for option, value in (("--pairs", "3"), ("--tolerance", "0.1")):
        assert refused("--target", "mpi", "--distribute", "i", option, value, command="run").startswith(option)
    assert not refused("--target", "mpi", "--distribute", "i", "--ranks", "1,2", command="run")


@pytest.mark.parametrize(("command", "words", "said"), [
    ("schedule in.c", "--given t.txt --fusion max", "--fusion does nothing with --given, which is the schedule"),
    ("schedule in.c", "--given t.txt --assume n=9", "--assume does nothing with --given"),
    ("machine", "--targets --calibrate costs.json", "--calibrate does nothing with --targets"),
    ("machine", "--targets --cc gcc", "--cc does nothing with --targets"),
    ("machine", "--calibrate costs.json --again", "--again does nothing with --calibrate"),
    ("tune in.c", "--samples 3", "--samples is for a size that is a range"),
    ("tune in.c", "--variants 2 --size n=8", "--variants is for a size that is a range"),
    ("tune layers:conv", "--terms --each-machine", "--each-machine does nothing with --terms"),
    ("tune layers:conv", "-I include", "-I does nothing for what is no C file"),
    ("tune model.onnx", "--autodetect", "--autodetect does nothing for what is no C file"),
    ("fuzz", "--pairs 3", "--pairs is for --instructions"),
    ("fuzz", "--instructions --count 3", "--count does nothing with --instructions"),
    ("fuzz", "--graphs --programs affine", "--programs does nothing with --graphs"),
    ("match layers:conv", "--intrinsic auto -D N=3", "-D does nothing for what is no C file"),
    ("match in.c", "--intrinsic auto --rule amos --split", "--split does nothing with --rule amos"),
    ("place graph.json", "--mesh 2x2 --method greedy --seed 3", "--seed is of the annealing"),
    ("onnx model.onnx", "--inputs a.npz --seed 3", "--seed is of random inputs, and --inputs has others"),
    ("report", "--schema --csv rows.csv", "--csv does nothing with --schema"),
    ("report a.jsonl", "--csv rows.csv --title Speed", "--title is that of a page, and none is written")])
def test_words_of_a_command_that_do_nothing_beside_its_own(
        tmp_path: Path, command: str, words: str, said: str) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched(*command.split(), *words.split(), folder=tmp_path)
    assert said in done.stderr
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["in.c"]


@pytest.mark.parametrize(("command", "words", "said"), [
    ("schedule", "--scheduler isl --iss", "--iss does nothing with --scheduler isl"),
    ("schedule", "--strategy s.json --scheduler isl", "--scheduler does nothing with --strategy"),
    ("tile", "--scheduler original --fusion max", "--fusion does nothing with --scheduler original"),
    ("tile", "--no-parallel --split-tiles", "--split-tiles does nothing with --no-parallel"),
    ("tile", "--allow none", "--allow belongs to --intrinsic"),
    ("tile", "--intrinsic auto --measure-plans", "no option --measure-plans"),
    ("tile", "--verify-instructions always", "no option --verify-instructions"),
    ("explain", "--vector-bits 0 --register-block 4x16", "--register-block does nothing with --vector-bits 0"),
    ("explain", "--target cuda --machine m.json", "--machine does nothing with --target opencl or cuda"),
    ("explain", "--portable", "--portable does nothing where no file of C is written"),
    ("explain", "--no-portable", "--no-portable does nothing where no file of C is written"),
    ("passes", "--safe", "--safe does nothing to loops"),
    ("passes", "--no-guard", "--no-guard does nothing to loops"),
    ("tile", "--tile off --no-collapse", "--no-collapse does nothing where loops, tiles"),
    ("passes", "--intrinsic none --allow none", "--allow does nothing with --intrinsic none")])
def test_other_commands_refuse_what_does_nothing_there(tmp_path: Path, command: str, words: str, said: str) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    done = polysched(command, "product.c", *words.split(), folder=tmp_path)
    assert said in done.stderr
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 2


def test_the_refusal_is_two_lines(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    done = polysched("c2c", "product.c", "--no-parallel", "--parallel-degrees", "2", folder=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 2
