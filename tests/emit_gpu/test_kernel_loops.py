"""The loops of one work item."""

from polysched.emit_c.loop_ir.index import constant, variables
from polysched.emit_c.loop_ir.loops import Block, For, If, Local, Temporary
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.emit_gpu import emit_opencl
from polysched.emit_gpu.kernel_loops import kernel_loops, private_arrays, private_bytes
from polysched.emit_gpu.names import device_names
from polysched.target.gpus import POCL, SM_80
from tests.gpu.mapped import PRODUCT, SCALE, mapped

TEMPORARY = ("void f(int n, double A[n][n], double B[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++) {\n"
             "    double s[3];\n    for (int j = 0; j < 3; j++)\n      s[j] = A[i][j];\n"
             "    for (int j = 0; j < 3; j++)\n      B[i] += s[2 - j];\n  }\n"
             "#pragma endscop\n}\n")


def test_coordinates_are_no_loops() -> None:
    mapping = mapped(PRODUCT)
    made = kernel_loops(mapping, mapping.launches[0], device_names(mapping.scop))
    assert [n.variable for n in walk_nodes(made.loops) if isinstance(n, For)] == ["k"]
    assert made.coordinates == ("x", "y")


def test_a_temporary_within_a_work_item_is_a_variable() -> None:
    mapping = mapped(TEMPORARY)
    made = kernel_loops(mapping, mapping.launches[0], device_names(mapping.scop))
    assert made.private
    assert made.private == set(private_arrays(mapping, mapping.launches[0]))


def test_a_scalar_of_the_caller_is_none() -> None:
    text = ("void f(int n, double A[n], double c) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n    A[i] *= c;\n"
            "#pragma endscop\n}\n")
    mapping = mapped(text)
    assert private_arrays(mapping, mapping.launches[0]) == ()


def test_a_device_that_loops_over_work_items_has_whole_blocks_without_conditions() -> None:
    on_cores, on_a_gpu = (mapped(SCALE, block=(8, 4), gpus=gpus) for gpus in ((POCL,), (SM_80,)))
    made = kernel_loops(on_cores, on_cores.launches[0], device_names(on_cores.scop))
    assert isinstance(made.loops, If)
    assert variables(made.loops.condition) == {"n", "block_x", "block_y"}
    assert not any(isinstance(own, If) for own in walk_nodes(made.loops.then))
    assert made.loops.otherwise is not None
    assert made.places is not None
    other = kernel_loops(on_a_gpu, on_a_gpu.launches[0], device_names(on_a_gpu.scop))
    assert other.places is None


def test_loops_and_exact_blocks_gain_nothing_there() -> None:
    for text in (PRODUCT, SCALE.replace("i < n", "i < 8").replace("j < n", "j < 8")):
        mapping = mapped(text, block=(8, 4), gpus=(POCL,), shared=False)
        assert kernel_loops(mapping, mapping.launches[0], device_names(mapping.scop)).places is None


LARGE = ("void f(int n, double A[n][1024], double B[n][1024]) {\n#pragma scop\n  for (int i = 0; i < n; i++) {\n"
         "    double s[1024], u[2048];\n    for (int j = 0; j < 1024; j++)\n      s[j] = A[i][j];\n"
         "    for (int j = 0; j < 1024; j++)\n      u[2 * j] = s[1023 - j];\n"
         "    for (int j = 0; j < 1024; j++)\n      B[i][j] = s[j] + u[2046 - 2 * j];\n  }\n#pragma endscop\n}\n")


def test_temporaries_of_a_block_that_do_not_fit_together_stay_in_memory() -> None:
    mapping = mapped(LARGE, block=(256,))
    made = kernel_loops(mapping, mapping.launches[0], device_names(mapping.scop))
    assert (made.private, made.spilled) == ({"s"}, ("u",))
    notes = emit_opencl(mapping).notes
    assert notes[0] == "kernel0: 8192 bytes of buffers per work item, more than registers hold"
    assert notes[1].startswith("kernel0: u stay in the device's memory, since buffers of 256 work items in a block")
    fewer = mapped(LARGE, block=(64,))
    assert kernel_loops(fewer, fewer.launches[0], device_names(fewer.scop)).private == {"s", "u"}


def test_of_several_buffers_of_one_temporary_the_largest_counts() -> None:
    """The last one counted, however small: 8 bytes in the place of 8192 here."""
    whole, one = Temporary("s", "s", (0,), (constant(0),), (1024,)), Temporary("s", "s")
    loops = Block((Local((whole,), Block(())), Local((one,), Block(()))))
    assert private_bytes(mapped(LARGE, block=(64,)).scop, loops) == {"s": 8192}
