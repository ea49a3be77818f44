"""`polysched onnx`: inspection, verification, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from polysched.cli.entry import main
from polysched.search import tuning
from tests.cli.command import is_refusal, polysched


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", ["batch", 4]), ("y", None)))
    weights = onnx.numpy_helper.from_array(np.arange(8, dtype=np.float32).reshape(4, 2) / 8, "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Softmax", ["a"], ["y"])]
    graph = helper.make_graph(nodes, "small", [x], [y], initializer=[weights])
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)]), tmp_path / "m.onnx")
    return tmp_path


def test_a_model_with_open_sizes_is_inspected(folder: Path) -> None:
    shown = polysched("onnx", "m.onnx", folder=folder).stdout
    assert "small: 2 nodes of 2 operators" in shown
    assert "input  x: float32[batch, 4]" in shown
    assert "open sizes: batch" in shown


def test_a_model_from_standard_input(folder: Path) -> None:
    done = polysched("onnx", "-", "--size", "batch=2", "--verify", "reference", folder=folder,
                     given=(folder / "m.onnx").read_bytes())
    assert done.returncode == 0
    assert "small: 2 nodes of 2 operators" in done.stdout
    assert "verified" in done.stdout
    refused = polysched("onnx", "-", folder=folder, given="no model")
    assert refused.returncode == 2
    assert refused.stderr.startswith("polysched: <stdin>: ")


@pytest.mark.parametrize("other", ["reference", "onnxruntime"])
def test_a_model_is_verified(other: str, folder: Path) -> None:
    done = polysched("onnx", "m.onnx", "--size", "batch=3", "--verify", other, "--fusion", "greedy", "--json",
                     folder=folder)
    found = json.loads(done.stdout)
    assert (found["verified"], found["kernels"], found["islands"]) == (other, 5, [])
    assert found["largest_difference"] < 1e-5
    assert found["arena_bytes"] >= found["peak_bytes"] > 0


def test_plans_are_measured_and_the_fastest_is_kept(folder: Path) -> None:
    done = polysched("onnx", "m.onnx", "--size", "batch=3", "--verify", "reference", "--measure-plans", "--json",
                     "o.json", folder=folder)
    found = json.loads((folder / "o.json").read_text())
    assert len(found["plans"]) > 1
    assert found["plans"][0]["kernels"] == found["regions"] <= found["kernels"]
    assert done.stdout.count(", kept") == 1
    assert done.stdout.count("times as fast as the greedy plan") == len(found["plans"])


def test_inputs_come_from_a_file_and_times_beside_onnxruntime(folder: Path) -> None:
    np.savez(folder / "in.npz", x=np.ones((2, 4), np.float32))
    done = polysched("onnx", "m.onnx", "--size", "batch=2", "--inputs", "in.npz", "--time", "--verify", "onnxruntime",
                     "--threads", "1", folder=folder)
    assert "verified against onnxruntime" in done.stdout
    assert "times as fast as ONNX Runtime" in done.stdout


def test_a_size_stays_open_and_the_model_is_saved(folder: Path) -> None:
    done = polysched("onnx", "m.onnx", "--assume", "batch=3", "--verify", "reference", "--save", "m.so", "-o", "source",
                     "--json", "out.json", folder=folder)
    assert "wrote m.so" in done.stdout
    found = json.loads((folder / "out.json").read_text())
    assert (found["open_sizes"], found["sizes"]) == (["batch"], {"batch": None})
    assert all((folder / name).exists() for name in ("m.so", "m.h", "m.weights", "source/main.c", "source/build.sh"))


def test_likely_sizes_give_codes_that_are_verified_at_each(folder: Path) -> None:
    done = polysched("onnx", "m.onnx", "--likely", "batch=2,64", "--verify", "reference", "--json", "out.json",
                     folder=folder)
    found = json.loads((folder / "out.json").read_text())
    assert (found["verified"], found["open_sizes"]) == ("reference", ["batch"])
    assert len(found["variants"]) == found["kernels"]
    assert all("made for" in told for told in found["variants"].values())
    assert "made for 64" in done.stdout


def test_a_model_is_made_for_a_target(folder: Path) -> None:
    done = polysched("onnx", "m.onnx", "--size", "batch=3", "--target", "generic", "-o", "source", "--verify",
                     "reference", folder=folder)
    assert done.returncode == 0, done.stderr
    text = "".join(path.read_text() for path in (folder / "source").glob("*.c"))
    assert "vector_size(16)" in text
    assert "vector_size(64)" not in text
    assert is_refusal(polysched("onnx", "m.onnx", "--size", "batch=3", "--target", "opencl", folder=folder))


def test_one_output_is_standard_output(folder: Path) -> None:
    done = polysched("onnx", "m.onnx", "--size", "batch=3", "--plan", "-", folder=folder)
    assert "1 kernels" in done.stdout
    assert not (folder / "-").exists()
    assert is_refusal(polysched("onnx", "m.onnx", "--size", "batch=3", "--plan", "-", "--json", folder=folder))


@pytest.mark.parametrize(("file", "what"), [("plan.svg", "saved by fusion"), ("plan.txt", "1 kernels")])
def test_the_plan_is_written(file: str, what: str, folder: Path) -> None:
    done = polysched("onnx", "m.onnx", "--size", "batch=3", "--plan", file, folder=folder)
    assert f"wrote {file}" in done.stdout
    assert what in (folder / file).read_text()


def test_a_condition_is_decided_when_the_model_runs(folder: Path) -> None:
    """With the values of inputs bound, the plan had no branch."""
    c, x, y = (helper.make_tensor_value_info(n, t, s) for n, t, s in (
        ("c", TensorProto.BOOL, []), ("x", TensorProto.FLOAT, [4]), ("y", TensorProto.FLOAT, [4])))
    sides = [helper.make_graph([helper.make_node(op, ["x"], [op])], op, [], [
        helper.make_tensor_value_info(op, TensorProto.FLOAT, [4])]) for op in ("Relu", "Neg")]
    node = helper.make_node("If", ["c"], ["y"], then_branch=sides[0], else_branch=sides[1])
    graph = helper.make_graph([node], "small", [c, x], [y])
    onnx.save(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 18)]), folder / "if.onnx")
    done = polysched("onnx", "if.onnx", "--islands", "refuse", "--verify", "onnxruntime", "--plan", "plan.txt",
                     folder=folder)
    assert "c: bool[] (decides about shapes, or what runs)" in done.stdout
    assert "y = if c" in (folder / "plan.txt").read_text()


def test_a_node_that_is_not_compiled_is_an_island(folder: Path) -> None:
    x, y = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4]), helper.make_value_info("y", onnx.TypeProto())
    graph = helper.make_graph([helper.make_node("NonZero", ["x"], ["y"])], "small", [x], [y])
    onnx.save(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 18)]), folder / "n.onnx")
    shown = polysched("onnx", "n.onnx", "--verify", "onnxruntime", "--json", "n.json", folder=folder).stdout
    assert "island node 'y' (NonZero) on onnxruntime: the shape of its result depends on data (100% of" in shown
    (island,) = json.loads((folder / "n.json").read_text())["islands"]
    assert (island["node"], island["share"]) == ("node 'y' (NonZero)", 1)
    refused = polysched("onnx", "n.onnx", "--islands", "refuse", folder=folder)
    assert is_refusal(refused)
    assert "there is no operator NonZero" in refused.stderr


@pytest.mark.parametrize("stored", ["float16", "bfloat16"])
def test_short_storage_says_what_it_costs(stored: str, folder: Path) -> None:
    done = polysched("onnx", "m.onnx", "--size", "batch=3", "--stored", stored, "--verify", "reference", "--json",
                     "out.json", folder=folder)
    (line,) = json.loads((folder / "out.json").read_text())["losses"]
    assert line in done.stdout
    assert line.startswith("y: largest error ")


def test_likely_sizes_given_twice_are_a_mistake_of_usage(folder: Path) -> None:
    done = polysched("onnx", "m.onnx", "--likely", "batch=2,3", "--likely", "batch=4", folder=folder)
    assert done.returncode == 2
    assert "batch is given twice, as 2,3 and 4" in done.stderr


def test_likely_sizes_that_are_no_numbers_are_a_mistake_of_usage(folder: Path) -> None:
    done = polysched("onnx", "m.onnx", "--likely", "batch=2;3", folder=folder)
    assert done.returncode == 2
    assert "'batch=2;3' is not NAME=VALUE,VALUE" in done.stderr


@pytest.mark.parametrize(("arguments", "message"), [
    (("m.onnx", "--size", "N=3"), "the model has no size 'N'"),
    (("m.onnx", "--verify", "reference"), "these sizes are open: batch"),
    (("m.onnx", "--save", "m.so"), "these sizes are open: batch"),
    (("m.onnx", "--assume", "batch=2", "--save", "none/m.so"), "saved as a .so file"),
    (("m.onnx", "--likely", "batch=2,3", "--size", "batch=2"), "the size batch is fixed"),
    (("m.onnx", "--likely", "batch=0,3"), "a likely value is a size of at least 1"),
    (("m.onnx", "--likely", "n=2"), "no size 'n'"),
    (("none.onnx",), "cannot read the model"), (("bad.onnx",), "no ONNX model"),
    (("m.onnx", "--size", "batch=2", "--inputs", "none.npz"), "the inputs cannot be read")])
def test_refusals(arguments: tuple[str, ...], message: str, folder: Path) -> None:
    (folder / "bad.onnx").write_bytes(b"no model")
    done = polysched("onnx", *arguments, folder=folder)
    assert is_refusal(done)
    assert message in done.stderr


def test_no_threads_are_a_usage_error(folder: Path) -> None:
    done = polysched("onnx", "m.onnx", "--threads", "0", folder=folder)
    assert done.returncode == 2
    assert "--threads: '0' is not a whole number above 0" in done.stderr


def test_the_kernels_of_a_model_are_tuned_and_used(folder: Path, monkeypatch: pytest.MonkeyPatch,
                                                   capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(tuning, "LIMITS", replace(tuning.LIMITS, first_generation=16, generation=8))
    monkeypatch.chdir(folder)
    assert main(["tune", "m.onnx", "--size", "batch=3", "--trials", "2", "--threads", "1", "--database", "t.db",
                 "--json", "t.json", "--cflags", "-O3 -march=native"]) == 0
    assert capsys.readouterr().out.startswith("the whole: ")
    found = json.loads((folder / "t.json").read_text())
    assert [p["weight"] for p in found["programs"]] == [1.0] * 5
    assert found["trials"] == 2
    shown = polysched("onnx", "m.onnx", "--size", "batch=3", "--threads", "1", "--database", "t.db", "--verify",
                      "reference", folder=folder)
    assert "verified against reference" in shown.stdout
    assert is_refusal(polysched("tune", "m.onnx", "--trials", "1", folder=folder))


def test_a_page_tells_what_was_found_and_draws_the_plan(folder: Path) -> None:
    done = polysched("onnx", "m.onnx", "--size", "batch=3", "--verify", "reference", "--fusion", "greedy", "--report",
                     "m.html", folder=folder)
    text = (folder / "m.html").read_text()
    assert "verified against reference" in done.stdout
    assert "verified against reference" in text
    assert "<svg" in text
    assert is_refusal(polysched("onnx", "m.onnx", "--report", "m.html", folder=folder))
