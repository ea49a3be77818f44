"""A compiled function as a contestant: arguments from their description, the same for all, and put back."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from polysched.experiment.c_function import Arguments, command, described, library_entry
from polysched.measure.processes.building import compile_shared
from polysched.measure.processes.call_interface import Origin, Slot
from polysched.measure.programs.inputs import fill
from polysched.scop.dtypes import FLOAT64, INT32
from polysched.target import find_compiler

ORIGIN = next(iter(Origin))
SLOTS = (Slot(name="n", dtype=INT32, origin=ORIGIN, is_array=False, value=5),
         Slot(name="A", dtype=FLOAT64, origin=ORIGIN, is_array=True, shape=(5,)),
         Slot(name="I", dtype=INT32, origin=ORIGIN, is_array=True, shape=(5,), index_extent=3, constant=True,
              elements=(((2,), 77),)))
CALL = """__attribute__((visibility("default"))) void polysched_call(void **s) {
  int n = *(int *)s[0]; double *A = s[1]; int *I = s[2];
  for (int i = 0; i < n; i++) A[i] += I[i];
}
"""


def test_a_description_is_json_and_gives_the_arguments_again() -> None:
    first, second = Arguments(described(SLOTS)), Arguments(json.loads(json.dumps(described(SLOTS))))
    assert list(first.arrays) == ["n", "A", "I"]
    for name, array in first.arrays.items():
        np.testing.assert_array_equal(array, second.arrays[name])
    assert first.arrays["n"] == 5
    assert first.arrays["I"][2] == 77
    assert set(np.delete(first.arrays["I"], 2)) <= {0, 1, 2}


@pytest.mark.parametrize("recipe", ["dominant", "mixed"])
def test_values_are_those_of_the_recipe_by_name(recipe: str) -> None:
    expected = np.zeros(5)
    fill(expected, "float64", name="A", recipe=recipe, seed=1)
    np.testing.assert_array_equal(Arguments(described(SLOTS, recipe)).arrays["A"], expected)


def test_arrays_are_put_back_in_their_place_and_scalars_are_no_results() -> None:
    own = Arguments(described(SLOTS))
    before = {name: array.copy() for name, array in own.arrays.items()}
    addresses = [a.ctypes.data for a in own.arrays.values()]
    for name in ("A", "I"):
        own.arrays[name][...] = 0
    assert set(own.results()) == {"A", "I"}
    assert not own.results()["A"].any()
    own.restore()
    assert [a.ctypes.data for a in own.arrays.values()] == addresses
    for name, array in before.items():
        np.testing.assert_array_equal(own.arrays[name], array)


def test_a_library_computes_on_them_again_and_again(tmp_path: Path) -> None:
    made = compile_shared(CALL, name="call", folder=tmp_path, compiler=find_compiler(), flags=("-O1",), openmp=False)
    entry = library_entry(described(SLOTS) | {"library": str(made.path)})
    expected = Arguments(described(SLOTS)).arrays
    for _ in range(2):
        entry.restore()
        entry.call()
        np.testing.assert_array_equal(entry.results()["A"], expected["A"] + expected["I"])


def test_the_command_has_its_parameters_in_a_file(tmp_path: Path) -> None:
    words = command(Path("/lib.so"), SLOTS, tmp_path, "a/b c", recipe="mixed")
    assert words[:3] == (sys.executable, "-m", "polysched.experiment.contestant")
    assert words[4] == "library_entry"
    assert Path(words[5]).name == "a_b_c.json"
    assert json.loads(Path(words[5]).read_text()) == json.loads(json.dumps(
        described(SLOTS, "mixed") | {"library": "/lib.so"}))
