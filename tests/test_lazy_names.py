"""Names of rooms that are loaded when they are first used."""

import importlib
from pathlib import Path

import pytest

import polysched
from polysched.lazy_names import loader

ROOMS = ("scop", "gpu", "gpu.scratchpad", "emit_gpu", "measure", "graph", "model", "runtime", "runtime.dataflow")


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_room_has_a_home(room: str) -> None:
    module = importlib.import_module(f"polysched.{room}")
    assert module._HOME.keys() == set(module.__all__) - vars(module).keys()
    assert all(getattr(module, name).__name__ == name for name in module.__all__)
    assert dir(module) == sorted(module.__all__)


def test_the_package_has_every_room_but_the_commands() -> None:
    folders = {path.parent.name for path in Path(polysched.__file__).parent.glob("*/__init__.py")}
    assert set(polysched._ROOMS) == folders - {"cli", "demo"} | {"errors"}
    assert all(getattr(polysched, room).__name__ == f"polysched.{room}" for room in polysched._ROOMS)


def test_a_name_that_is_not_there_is_refused_as_python_does() -> None:
    load, _ = loader("polysched.scop", {"Scop": "scop"})
    assert load("Scop").__name__ == "Scop"
    with pytest.raises(AttributeError, match="has no attribute 'scoop'"):
        load("scoop")
