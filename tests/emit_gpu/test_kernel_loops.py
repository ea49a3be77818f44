"""The loops of one work item."""

from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.emit_gpu.kernel_loops import kernel_loops, private_arrays
from polysched.emit_gpu.names import device_names
from tests.gpu.mapped import PRODUCT, mapped

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
