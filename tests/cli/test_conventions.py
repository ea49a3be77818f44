"""All commands spell sizes, assumptions, JSON, targets, standard input and output, and refusals in the same way."""

from __future__ import annotations

import argparse
import gc
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from polysched.cli.commands import COMMANDS
from polysched.cli.completion import subcommands
from polysched.cli.conventions import (
    COMPILER_HELP,
    WORK_ITEMS,
    Input,
    OncePerName,
    Parser,
    chosen_target,
    json_file,
    likely_sizes,
    meant,
    name_standard_output,
    separate_sizes,
    size,
    size_or_range,
)
from polysched.cli.entry import main, make_parser
from polysched.cli.options import tiled_options
from polysched.emit_gpu.interface import INTERFACES
from polysched.errors import UsageError
from tests.cli.command import PRODUCT, SCALING, is_refusal, polysched

PARSERS = dict(subcommands(make_parser()))
READING_C = ("c2c", "run", "tune", "extract", "deps", "explain", "draw", "schedule", "tile", "passes", "match")
WITH_MODEL = ("c2c", "run", "tile", "passes", "schedule", "explain", "draw")
WITH_INSTRUCTIONS = ("c2c", "run", "tile", "passes", "match", "explain")

ROOT = Path(__file__).parents[2]

TWO = """\
void two(int n, double a[n][n], double b[n][n], double c[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = 2 * a[j][i] + 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""


EXPERIMENT = """\
from polysched.experiment import Case, Experiment
EXPERIMENT = Experiment(cases=lambda settings: [], measure=lambda case, settings, report: {}, table=lambda records: "")
"""


def option(command: str, spelling: str) -> argparse.Action | None:
    return next((a for a in PARSERS[command]._actions if spelling in a.option_strings), None)


def actions(spelling: str) -> Iterator[tuple[str, argparse.Action]]:
    for command in PARSERS:
        if (found := option(command, spelling)) is not None:
            yield command, found


def test_every_command_is_looked_at():
    assert list(PARSERS) == [command.NAME for command in COMMANDS]
    assert all(isinstance(parser, Parser) for parser in PARSERS.values())


@pytest.mark.parametrize("command", list(PARSERS))
def test_json_goes_to_a_file_or_to_standard_output(command):
    found = option(command, "--json")
    assert found is not None
    assert (found.nargs, found.const, found.type, found.metavar) == ("?", "-", json_file, "FILE")


@pytest.mark.parametrize("command", READING_C)
def test_what_reads_c_reads_standard_input_and_has_the_preprocessor(command):
    place = next(a for a in PARSERS[command]._actions if not a.option_strings)
    assert "standard input" in str(place.help)
    assert all(option(command, spelling) for spelling in ("-I", "-D", "--cc"))


@pytest.mark.parametrize("command", WITH_MODEL)
def test_what_has_a_model_is_guided_and_has_a_target(command):
    assert option(command, "--assume")
    assert option(command, "--target")


@pytest.mark.parametrize("command", WITH_INSTRUCTIONS)
def test_what_makes_code_for_a_size_takes_one(command):
    assert option(command, "--size")


READ = ("--target", "--machine", "--strategy", "--given", "--mesh")


def test_every_text_that_is_read_may_be_standard_input():
    found = {(command, spelling): a.type for spelling in READ for command, a in actions(spelling) if not a.choices}
    assert found
    assert set(found.values()) == {Input}
    assert not [a for parser in PARSERS.values() for a in parser._actions
                if a.type is Input and a.option_strings and a.option_strings[-1] not in READ]


def test_shared_spellings_mean_the_same_everywhere():
    for spelling in ("--size", "--assume"):
        # of `tune` alone a size may be a range
        assert {(size if a.type is size_or_range else a.type, a.metavar, type(a).__name__)
                for _, a in actions(spelling)} == {
            (size, "NAME=VALUE", "_AppendAction")}
    assert {a.help for _, a in actions("--cc")} == {COMPILER_HELP}
    assert {tuple(a.option_strings) for _, a in actions("-o")} == {("-o", "--output")}
    # `fuzz` has programs for three targets that are no descriptions of machines
    assert {(a.metavar, a.default) for c, a in actions("--target") if c != "fuzz"} == {("NAME|FILE", "host")}
    for spelling in ("--size", "--assume", "--json", "--target", "--cc"):
        assert len(list(actions(spelling))) > 2


@pytest.mark.parametrize("command", list(PARSERS))
def test_a_usage_error_is_two_lines_with_the_usage_of_the_command(command, tmp_path):
    words = {"compare": ("a", "b"), "report": ("a",), "completion": ("bash",), "match": ("a.c", "--intrinsic", "x"),
             "db": ("list", "a.db"), "onnx": ("a.onnx",), "block": ("a:f",), "place": ("a.json", "--mesh", "2x2")}
    done = polysched(command, *words.get(command, ("a.c",) if command in READING_C else ()), "--quite",
                     folder=tmp_path)
    first, second = done.stderr.splitlines()
    assert done.returncode == 2
    assert first == f"polysched {command}: no option --quite; did you mean --quiet?"
    assert second.startswith(f"usage: polysched {command} [OPTIONS]")
    assert second.endswith(f"(polysched {command} --help lists the options)")


@pytest.mark.parametrize(("words", "first"), [
    (("shedule", "a.c"), "polysched: no command 'shedule'; did you mean schedule?"),
    ((), "polysched: the following arguments are required: COMMAND"),
    (("c2c",), "polysched c2c: the following arguments are required: IN.c"),
    (("c2c", "a.c", "b.c"), "polysched c2c: nothing takes b.c"),
    (("deps", "--json", "a.c"), "polysched deps: argument --json: 'a.c' is what is read, not a place for JSON; write "
                                "--json -, or --json behind it"),
    (("c2c", "a.c", "--scheduler", "plutp"), "polysched c2c: argument --scheduler: no choice 'plutp' of pluto, "
                                             "feautrier, isl, original, best; did you mean pluto?"),
    (("run", "a.c", "--size", "n"), "polysched run: argument --size: 'n' is not NAME=VALUE with a whole number"),
    (("tile", "a.c", "--tile", "1:x"), "polysched tile: argument --tile: 'x' is not a number or a list like 32,32,64"),
    (("tile", "a.c", "--parallel-loop", "none"), "polysched tile: argument --parallel-loop: no loop of any band is "
                                                 "--no-parallel"),
])
def test_usage_errors_say_what_was_meant(words, first, tmp_path):
    done = polysched(*words, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == first
    assert len(done.stderr.splitlines()) == 2


def test_the_options_of_an_experiment_are_refused_in_the_same_way(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "experiment.toml").write_text('question = "Why?"\nexpected_time = "no time"\n')
    (folder / "run.py").write_text(EXPERIMENT)
    done = polysched("bench", str(folder), "--result", "x", "--lits", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "polysched bench mine: no option --lits; did you mean --list?",
        "usage: polysched bench mine [OPTIONS]   (polysched bench mine --help lists the options)"]


def test_nothing_is_suggested_where_nothing_is_close():
    assert meant("--xyz", ["--tile"]) == ""


def test_several_values_may_follow_a_size():
    assert separate_sizes(["--size", "n=1", "m=2", "a.c", "--assume", "k=3", "l=4"]) == [
        "--size", "n=1", "--size", "m=2", "a.c", "--assume", "k=3", "--assume", "l=4"]


def test_standard_input_and_output_carry_a_program_through(tmp_path):
    done = polysched("c2c", "-", "-o", "-", "--tile", "16", folder=tmp_path, given=PRODUCT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("/* polysched: fastest with ")
    assert "*/\n/* before */" in done.stdout
    assert "tiles of 16 x 16 x 16" in done.stdout
    refused = polysched("extract", "-", folder=tmp_path, given="int x;\n")
    assert "<stdin>" in refused.stderr
    assert is_refusal(refused)


@pytest.mark.parametrize("words", [
    ("c2c", "-", "--target", "-"), ("schedule", "-", "--strategy", "-"), ("tile", "-", "--target", "-"),
    ("run", "-", "--strategy", "-"), ("compare", "-", "-"), ("report", "-", "a.jsonl", "-"),
    ("passes", "in.c", "--target", "-", "--strategy", "-")])
def test_standard_input_is_read_once(words, tmp_path):
    (tmp_path / "in.c").write_text(PRODUCT)
    refused = polysched(*words, folder=tmp_path)
    assert is_refusal(refused)
    assert refused.stderr == "polysched: only one file can be standard input\n  hint: name the others\n"


@pytest.mark.parametrize("option", ["--size", "--assume"])
@pytest.mark.parametrize("command", [("c2c",), ("c2c", "--autodetect"), ("passes",), ("passes", "--autodetect"),
                                     ("tile",), ("run",), ("run", "--autodetect")])
def test_a_size_of_no_parameter_is_refused(command, option, tmp_path):
    (tmp_path / "in.c").write_text(SCALING)
    refused = polysched(*command, "in.c", option, "k_max=3", folder=tmp_path)
    assert is_refusal(refused)
    assert "k_max" in refused.stderr


def test_a_size_of_loops_that_are_left_alone_is_accepted(tmp_path):
    (tmp_path / "in.c").write_text(
        SCALING + "void left(int m, double *a) { for (int i = 0; i < m; i++) a[a[i] > 0] = i; }")
    assert polysched("c2c", "--autodetect", "in.c", "--assume", "m=3", folder=tmp_path).returncode == 0


def test_lists_are_json_as_well(tmp_path):
    targets = json.loads(polysched("machine", "--targets", "--json", folder=tmp_path).stdout)
    assert [t["name"] for t in targets][:2] == ["host", "generic"]
    (tmp_path / "generic.json").write_text(json.dumps(targets[1]))
    (tmp_path / "in.c").write_text(PRODUCT)
    assert "vector_size(16)" in polysched("c2c", "in.c", "--target", "generic.json", folder=tmp_path).stdout
    names = polysched("bench", "--names", folder=ROOT).stdout.split()
    assert json.loads(polysched("bench", "--names", "--json", folder=ROOT).stdout) == names
    for option in ("--names", "--json=x.json"):
        refused = polysched("bench", option, names[0], folder=ROOT)
        assert is_refusal(refused)
        assert "are for the list of experiments" in refused.stderr


def test_json_takes_the_place_of_what_goes_to_standard_output(tmp_path):
    (tmp_path / "in.c").write_text(SCALING)
    for command in ("c2c", "draw"):
        for json_place in (("--json",), ("--json", "-")):
            done = polysched(command, "in.c", *json_place, folder=tmp_path)
            assert done.returncode == 0, done.stderr
            json.loads(done.stdout)
        refused = polysched(command, "in.c", "--json", "-", "-o", "-", folder=tmp_path)
        assert is_refusal(refused)
        assert "cannot both go to the standard output" in refused.stderr
        refused = polysched(command, "in.c", "--json", "./a.svg", "-o", "a.svg", folder=tmp_path)
        assert is_refusal(refused)
        assert "have one name" in refused.stderr
        assert not (tmp_path / "a.svg").exists()


def test_the_costs_of_a_machine_may_be_standard_input(tmp_path):
    (tmp_path / "in.c").write_text(PRODUCT)
    costs = {"format_version": 1, "machine": "m", "compiler": "c", "disturbed": False, "bandwidth": [], "figures": []}
    done = polysched("tile", "in.c", "--machine", "-", folder=tmp_path, given=json.dumps(costs))
    assert done.returncode == 0, done.stderr
    assert done.stdout == polysched("tile", "in.c", folder=tmp_path).stdout
    assert is_refusal(polysched("tile", "-", "--machine", "-", folder=tmp_path))


def test_json_in_a_file_leaves_the_text_where_it_was(tmp_path):
    (tmp_path / "in.c").write_text(PRODUCT)
    text = polysched("deps", "in.c", folder=tmp_path).stdout
    done = polysched("deps", "in.c", "--json", "deps.json", folder=tmp_path)
    assert done.stdout == text
    assert json.loads((tmp_path / "deps.json").read_text())["name"] == "product"
    assert json.loads(polysched("deps", "in.c", "--json", "-", folder=tmp_path).stdout)["name"] == "product"


def test_the_passes_are_listed_as_json(tmp_path):
    passes = json.loads(polysched("passes", "--json", folder=tmp_path).stdout)
    assert {"name", "summary", "needs"} == set(passes[0])


def test_a_target_by_file_and_one_that_does_not_exist(tmp_path):
    (tmp_path / "in.c").write_text(PRODUCT)
    (tmp_path / "wide.json").write_text(json.dumps({"target": {"vector_bits": 512, "vector_registers": 32}}))
    done = polysched("c2c", "in.c", "--target", "wide.json", folder=tmp_path)
    assert "vector_size(64)" in done.stdout, done.stderr
    assert "vector_size(16)" in polysched("c2c", "in.c", "--target", "generic", folder=tmp_path).stdout
    unknown = polysched("c2c", "in.c", "--target", "cray", folder=tmp_path)
    assert unknown.stderr == "polysched: no target cray\n  hint: one of host, generic, or a JSON file\n"
    near = polysched("c2c", "in.c", "--target", "opncl", folder=tmp_path)
    assert near.stderr.startswith("polysched: no target opncl; did you mean opencl?\n")
    with pytest.raises(UsageError, match="no target gemini; did you mean gemmini"):
        chosen_target(argparse.Namespace(target="gemini", machine=None))
    assert "generic" in polysched("machine", "--targets", folder=tmp_path).stdout


def test_tiles_orders_and_threads_per_band(tmp_path):
    (tmp_path / "two.c").write_text(TWO)
    separate = ("tile", "two.c", "--fusion", "none", "--vector-bits", "0")
    done = polysched(*separate, "--tile", "64", "--tile", "1:8,16,32", "--parallel-loop", "1:1", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "band 0: tiles 64 x 64" in done.stdout
    assert "band 1: tiles 8 x 16 x 32" in done.stdout
    unknown = polysched(*separate, "--tile", "7:32", folder=tmp_path)
    assert "there is no band 7" in unknown.stderr
    assert is_refusal(unknown)


def test_values_of_one_band_become_options():
    arguments = make_parser().parse_args([
        "tile", "a.c", "--pack", "0:auto", "--pack", "1:none", "--parallel-loop", "1:none", "--outer-tile", "1:64",
        "--outer-tile", "1:128", "--register-block", "0:4x8", "--tile", "auto"])
    bands = tiled_options(arguments).tiling.bands
    assert bands[0].given() == {"packed": "auto", "register": (4, 8)}
    assert bands[1].given() == {"packed": (), "parallel": False, "outer_sizes": (64, 128)}


def test_a_command_leaves_the_collection_of_garbage_as_it_was(capsys):
    before = gc.get_threshold()
    gc.set_threshold(701, 11, 12)
    try:
        assert main(["machine", "--targets"]) == 0
        assert gc.get_threshold() == (701, 11, 12)
    finally:
        gc.set_threshold(*before)
    assert "generic" in capsys.readouterr().out


def test_work_items_are_run_by_every_language_of_devices() -> None:
    assert tuple(INTERFACES) == WORK_ITEMS


def test_a_name_with_two_values_is_a_mistake_of_usage(capsys) -> None:
    parser = argparse.ArgumentParser(prog="p")
    parser.add_argument("--likely", type=likely_sizes, action=OncePerName, default=[])
    assert dict(parser.parse_args(["--likely", "n=5", "--likely", "m=5,6", "--likely", "n=5"]).likely) == {
        "n": (5,), "m": (5, 6)}
    assert parser.parse_args([]).likely == []
    with pytest.raises(SystemExit):
        parser.parse_args(["--likely", "n=5", "--likely", "n=7,8"])
    assert "n is given twice, as 5 and 7,8" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_other_names_of_the_standard_output_are_it(name: str, tmp_path: Path,
                                                   capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f.c").write_text("void f(int n, int a[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++) a[i] = i;\n"
                                  "#pragma endscop\n}\n")
    assert main(["c2c", str(tmp_path / "f.c"), "-o", name, "--json", "-"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == ["polysched: the C and the JSON cannot both go to the standard output",
                                     "  hint: name a file with -o"]


def test_an_input_of_that_name_stays() -> None:
    given = argparse.Namespace(source=Input("/dev/fd/1"), output="/dev/fd/1", sizes=["/dev/fd/1"])
    name_standard_output(given)
    assert (given.source, given.output, given.sizes) == ("/dev/fd/1", "-", ["/dev/fd/1"])
