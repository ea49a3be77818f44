"""Names of values, and types of memrefs."""

import pytest

from polysched.scop.mlir_frontend.operations import Block, Operation, memref_of, walk, with_unique_names


@pytest.mark.parametrize(("text", "expected"), [
    ("memref<f32>", ((), "f32", "")), ("memref<4x?xi8>", ((4, None), "i8", "")),
    ("memref<4 x 5 x f64, 1>", ((4, 5), "f64", "1")), ("index", None), ("memref<*xf32>", None),
    ("memref<2xvector<4xf32>>", None),
])
def test_memrefs(text: str, expected: object) -> None:
    assert memref_of(text) == expected


def test_two_blocks_may_use_one_name() -> None:
    def block(name: str) -> Block:
        return Block(("i",), ("index",), (Operation("arith.constant", 1, results=(name,)),
                                          Operation("x", 2, operands=(name, "i", "outer"))))

    function = Operation("func.func", 0, regions=(Block(("outer",), ("index",), (
        Operation("affine.for", 1, regions=(block("0"),)), Operation("affine.for", 3, regions=(block("0"),)),
        Operation("y", 5, operands=("0",)))),))
    found = with_unique_names(function)
    names = [operation.results for operation in walk(found.regions[0]) if operation.results]
    assert names == [("0",), ("0.1",)]
    uses = [operation.operands for operation in walk(found.regions[0]) if operation.name == "x"]
    assert uses == [("0", "i", "outer"), ("0.1", "i.1", "outer")]
    (last,) = [operation.operands for operation in walk(found.regions[0]) if operation.name == "y"]
    assert last == ("0, which is defined elsewhere,",)
