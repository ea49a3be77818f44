"""Inside a room, imports point from later sub-rooms to earlier ones, and a folder stays small enough to read."""

import ast
import re
from pathlib import Path

import pytest

import polysched
from tests.architecture.parsed import imports_of

ROOT = Path(polysched.__file__).parent
SUB_ROOMS = {
    "target": ["scratchpads"],
    "scop": ["construction", "c_frontend", "openscop", "expression", "python_frontend", "block_frontend",
             "mlir_frontend", "tir_frontend", "pictures"],
    "dependence": ["reductions", "reordering", "questions"],
    "scheduling": ["tree", "primitives", "solving", "fusion", "interchange"],
    "tiling": ["tree", "footprints", "shapes", "planning", "rewriting"],
    "tensorize": ["description", "equality", "intrinsics", "software", "proofs", "preparing", "matching", "functions",
                  "conformance", "emission"],
    "emit_c": ["loop_ir", "generation", "bodies", "scalar_code", "register_tiles", "nests", "vector_math",
               "vector_code", "alternatives", "distributed", "mlir", "tir"],
    "scop/c_frontend": ["text", "declarations", "subscripts", "rewrites", "detection"],
    "gpu": ["scratchpad"],
    "emit_gpu": ["scratchpad", "tensor_cores"],
    "fuzz": ["matches", "onnx_models", "targets"],
    "graph": ["values", "operators", "evaluation", "passes", "planning", "reading"],
    "graph/operators": ["families"],
    "graph/passes": ["differentiation", "layouts", "narrow"],
    "search": ["rewriting", "packages", "clients"],
    "cli": ["shown", "python_programs", "questions"],
    "pipeline": ["whole_files"],
    "notebook": ["tutorial"],
    "runtime": ["dataflow"],
    "measure": ["processes", "programs", "timing", "bit_for_bit"],
}
MOST_MODULES = 25
MOST_LINES = 500


@pytest.mark.parametrize(("room", "sub_room"), [(room, name) for room, order in SUB_ROOMS.items() for name in order])
def test_imports_point_to_earlier_sub_rooms(room: str, sub_room: str) -> None:
    later = SUB_ROOMS[room][SUB_ROOMS[room].index(sub_room) + 1:]
    found = [f"{path}:{node.lineno} imports {node.module}" for path in sorted((ROOT / room / sub_room).rglob("*.py"))
             for node in imports_of(path) if isinstance(node, ast.ImportFrom)
             if (node.module or "").startswith(tuple(f"polysched.{room.replace('/', '.')}.{name}" for name in later))]
    assert not found, "imports of later sub-rooms"


def test_every_folder_of_a_room_is_in_the_order() -> None:
    for room, order in SUB_ROOMS.items():
        folders = {p.name for p in (ROOT / room).iterdir() if p.is_dir() and list(p.glob("*.py"))}
        assert folders == set(order), room


def test_every_room_with_folders_is_in_the_order() -> None:
    parents = {p.parent for p in ROOT.rglob("*") if p.is_dir() and list(p.glob("*.py"))} - {ROOT}
    assert {str(p.relative_to(ROOT)) for p in parents if p != ROOT} == set(SUB_ROOMS)


def test_the_architecture_page_has_the_order() -> None:
    page = (ROOT.parent / "docs" / "architecture.md").read_text()
    told = dict(re.findall(r"(?m)^\| ([\w/]+) \| (\w+(?: < \w+)*) \|$", page))
    assert told == {room: " < ".join(order) for room, order in SUB_ROOMS.items()}


def test_no_folder_is_too_full() -> None:
    for folder in [ROOT, *(p for p in ROOT.rglob("*") if p.is_dir())]:
        modules = len([p for p in folder.glob("*.py") if p.name != "__init__.py"])
        name = str(folder.relative_to(ROOT))
        assert modules <= MOST_MODULES, f"{name} holds {modules} modules"


def test_no_module_is_too_long() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in ROOT.rglob("*.py")}
    assert not {name: length for name, length in lengths.items() if length > MOST_LINES}
