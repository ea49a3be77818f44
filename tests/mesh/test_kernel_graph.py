"""Kernel-graph files: read, written again, placed; near misses are refused with their line."""

import pytest

from polysched.errors import UsageError
from polysched.mesh import MeshTarget, place, verify
from polysched.mesh.kernel_graph import read_kernel_graph

TEXT = """// a small one
Node Definitions
input
conv1 H=8 W=6 R=3 S=3 C=4 K=16 T=2
dblock2 h=4 w=3 f=16
cblock3 H=4 W=3 F=32   // and its comment
output

Connectivity
input:0 -> conv1:0 8x6x4
conv1:0 -> dblock2:0 4x3x16
dblock2 -> cblock3
cblock3:0 -> output:0
"""


def test_a_file_is_read_and_written_again() -> None:
    graph = read_kernel_graph(TEXT)
    assert [n.name for n in graph.nodes] == ["input", "conv1", "dblock2", "cblock3", "output"]
    assert graph.edges[1].ports == ("0", "0")
    assert graph.edges[1].shape == "4x3x16"
    assert graph.edges[2].ports == ("", "")
    assert read_kernel_graph(graph.to_text()) == graph


def test_names_have_brackets_and_parameters_are_kept() -> None:
    graph = read_kernel_graph("""Solver Parameters:
wirepenalty = 1
timelimit=3600
Node Definitions
input[ 0]
cblock[ 1] name=k01 f=128 h=92 w=92
dblock[12]\th=46 w=46 f=128
Connectivity
input[ 0]:0 -> cblock[ 1]:0 92x92x64
cblock[ 1]:0\t->\tdblock[ 12]:0\t46x46x128
""")
    assert graph.parameters == (("wirepenalty", "1"), ("timelimit", "3600"))
    assert [(n.name, n.label) for n in graph.nodes] == [("input[0]", ""), ("cblock[1]", "k01"), ("dblock[12]", "")]
    last = graph.edges[1]
    assert (last.source, last.sink, last.shape) == ("cblock[1]", "dblock[12]", "46x46x128")
    assert read_kernel_graph(graph.to_text()) == graph


@pytest.mark.parametrize(("line", "said"), [("wirepenalty", "NAME=VALUE"), ("a=1\na=2", "stands twice")])
def test_a_wrong_parameter_is_refused(line, said) -> None:
    with pytest.raises(UsageError, match=said):
        read_kernel_graph(f"Solver Parameters\n{line}\n{TEXT}")


def test_kernels_become_operators() -> None:
    conv, block, last = read_kernel_graph(TEXT).operators().operators
    assert (conv.work, conv.extents) == (2 * 12 * 16 * 36, (12, 16))
    assert (conv.weights, conv.result) == (2 * 16 * 36, 2 * 12 * 16)
    assert block.work == 2 * 12 * (4 * 16 + 4 * 36 + 16 * 4)
    assert last.extents == (4, 32)
    assert last.weights == 2 * (8 * 16 + 8 * 72 + 32 * 16 + 32 * 8)


def test_a_kernel_graph_is_placed() -> None:
    graph = read_kernel_graph(TEXT).operators()
    assert [(m.source, m.sink, m.bytes) for m in graph.messages] == [("conv1", "dblock2", 384),
                                                                    ("dblock2", "cblock3", 384)]
    verify(place(graph, MeshTarget(rows=4, columns=4)))


@pytest.mark.parametrize(("line", "said"), [
    ("pool1 H=1 W=1", "a kernel is one of conv, dblock, cblock"),
    ("conv2 H=8 W=8 R=3 S=3 C=4 K=4", "the arguments of conv are"),
    ("dblock3 H=8 W=8 F=4 F=4", "the arguments of dblock are"),
    ("dblock3 H=8 W=8 F=0", "an argument is NAME=NUMBER"),
    (f"dblock3 H=8 W=8 F=1{'0' * 5000}", "nine digits at most"),
    ("dblock3 H=8 W=8 F=-4", "an argument is NAME=NUMBER"),
    ("conv1 H=8 W=6 R=3 S=3 C=4 K=16 T=2", "a kernel stands twice"),
    ("conv1:0 -> nobody:0", "names a kernel that is not defined"),
    ("conv1:0 -> dblock2:0 -> cblock3:0 ->", "a connection is"),
    ("-> conv1", "a connection is"),
])
def test_a_wrong_line_is_refused_with_its_number(line, said) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        read_kernel_graph(TEXT + line + "\n", where="g.kgraph")
    assert "g.kgraph, line 14" in str(caught.value)


@pytest.mark.parametrize("text", ["", "// nothing\n", "Node Definitions\ninput\noutput\n"])
def test_a_file_without_kernels_is_refused(text) -> None:
    with pytest.raises(UsageError, match="defines no kernel"):
        read_kernel_graph(text)
