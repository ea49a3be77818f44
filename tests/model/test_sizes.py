"""Sizes that are open when a graph is compiled."""

from contextlib import suppress

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError, UsageError
from polysched.graph import from_text, interpret
from polysched.model import compile_graph
from polysched.model.limits import LIMITS
from polysched.model.sizes import Arguments, sizes_of

GRAPH = """graph f(x: float32[N, 6], w: float32[6, 8], b: float32[8]) {
  const axes: int64[1] = [1]
  const perm: int64[1] = [0]
  const rest: int64[2] = [-1, 4]
  let m = MatMul(x, w)
  let a = Add(m, b)
  let r = Relu(a)
  let s = ReduceSum(r, axes; keepdims=1)
  let d = Sub(r, s)
  let t = Transpose(d; perm=[1, 0])
  let u = Concat(t, t; axis=1)
  let v = Reshape(u, rest)
  let y = Exp(v)
  return y, t
}"""


def test_one_compilation_serves_several_sizes() -> None:
    graph = from_text(GRAPH)
    model = compile_graph(graph)
    libraries = set()
    rng = np.random.default_rng(0)
    for rows in (1, 7, 33, 7):
        x = {"x": rng.normal(size=(rows, 6)).astype(np.float32) / 9, "w": rng.normal(size=(6, 8)).astype(np.float32),
             "b": rng.normal(size=8).astype(np.float32)}
        found, wanted = model.run(x), interpret(graph, x)
        for name in ("y", "t"):
            assert found[name].shape == wanted[name].shape
            assert np.allclose(found[name], wanted[name], rtol=1e-4, atol=1e-5)
        libraries.add(model.library)
    assert len(libraries) == 1
    assert "sizes N open" in repr(model)
    assert "sizes N open" in str(model.plan)


def test_two_open_sizes_share_no_memory() -> None:
    graph = from_text("""graph f(x: float32[N, 4], z: float32[M, 4]) {
  let a = Concat(x, z; axis=0)
  let t = Transpose(a; perm=[1, 0])
  let e = Concat(t, t; axis=0)
  let y = Transpose(e; perm=[1, 0])
  return y
}""")
    model = compile_graph(graph)
    for rows, more in ((3, 2), (1, 40)):
        x = {"x": np.random.rand(rows, 4).astype(np.float32), "z": np.random.rand(more, 4).astype(np.float32)}
        assert np.array_equal(model.run(x)["y"], interpret(graph, x)["y"])
        ready = model._ready((rows, more))
        wanted = model.plan.arena_for({"N": rows, "M": more})
        assert list(ready.offsets) == [wanted.offsets[name] for name in model.plan.lives]


def arrays(x: tuple[int, ...], y: tuple[int, ...]) -> dict[str, np.ndarray]:
    return {"x": np.zeros(x, np.float32), "y": np.zeros(y, np.float32)}


def test_extents_that_contradict_each_other_are_refused() -> None:
    graph = from_text("graph f(x: float32[N], y: float32[2*N]) {\n  let z = Exp(x)\n  return z\n}")
    assert sizes_of(graph, arrays((3,), (6,))) == {"N": 3}
    with pytest.raises(UnsupportedGraphError, match=r"the input 'y' is float32\[2\*N\]") as refusal:
        sizes_of(graph, arrays((3,), (5,)))
    assert "[5] with N = 3" in str(refusal.value)


def test_a_multiple_of_a_size_says_it() -> None:
    graph = from_text("graph f(x: float32[2*N + 1]) {\n  let z = Exp(x)\n  return z\n}")
    assert sizes_of(graph, {"x": np.zeros(7, np.float32)}) == {"N": 3}
    with pytest.raises(UnsupportedGraphError, match="the size N is given by no input"):
        sizes_of(graph, {"x": np.zeros(8, np.float32)})


def test_a_convolution_takes_batches_of_any_size() -> None:
    graph = from_text("""graph f(x: float32[N, 3, 7, 6], w: float32[4, 3, 3, 3]) {
  let c = Conv(x, w; pads=[1, 1, 1, 1])
  let y = Relu(c)
  return y
}""")
    model = compile_graph(graph)
    for batch in (1, 3):
        x = {"x": np.random.rand(batch, 3, 7, 6).astype(np.float32), "w": np.random.rand(4, 3, 3, 3).astype(np.float32)}
        assert np.allclose(model.run(x)["y"], interpret(graph, x)["y"], rtol=1e-4, atol=1e-5)


def test_empty_sizes_are_refused() -> None:
    graph = from_text("graph f(x: float32[N], y: float32[2*N]) {\n  let z = Exp(x)\n  return z\n}")
    with pytest.raises(UnsupportedGraphError, match="the size N is 0"):
        sizes_of(graph, arrays((0,), (0,)))


def test_a_size_beside_a_dimension_of_none_is_bounded() -> None:
    graph = from_text("graph f(x: float32[N, 0]) {\n  let z = Exp(x)\n  return z\n}")
    assert sizes_of(graph, {"x": np.empty((1 << 40, 0), np.float32)}) == {"N": 1 << 40}
    with pytest.raises(UnsupportedGraphError, match="the size N is 4611686018427387904") as refusal:
        sizes_of(graph, {"x": np.empty((1 << 62, 0), np.int8)})
    assert "at most 1099511627776" in str(refusal.value)


@pytest.mark.parametrize(("line", "right", "wrong"), [
    ("Mul(n, c)", 2047, 2048), ("Sub(n, most)", 3, None), ("Sub(least, n)", None, 1), ("Add(most, n)", None, 1)])
def test_short_whole_numbers_of_sizes_are_exact_or_refused(line: str, right: int | None, wrong: int | None) -> None:
    graph = from_text(f"""graph f(x: int8[N]) {{
  const c: int32[1] = [1048576]
  const most: int32[1] = [2147483647]
  const least: int32[1] = [-2147483648]
  let s = Shape(x)
  let n = Cast(s; to="int32")
  let m = {line}
  let half = Div(m, n)
  let y = Cast(m; to="int64")
  return y
}}""")
    model = compile_graph(graph)
    if right is not None:
        given = {"x": np.zeros(right, np.int8)}
        assert model.run(given)["y"].tolist() == interpret(graph, given)["y"].tolist()
    if wrong is not None:
        given = {"x": np.zeros(wrong, np.int8)}
        with pytest.raises(UnsupportedGraphError, match="a whole number that follows from open sizes leaves its type"):
            model.run(given)
        bound = compile_graph(graph, sizes={"N": wrong})
        assert bound.run(given)["y"].tolist() == interpret(graph, given)["y"].tolist()


def test_sizes_reach_a_kernel_by_their_names() -> None:
    """The Scop of the kernel has M before N: its result is read in that order."""
    graph = from_text("""graph f(x: float32[N, M, 3], y: float32[M, N, 3]) {
  let t = Transpose(x; perm=[1, 0, 2])
  let z = Add(y, t)
  return z
}""")
    model = compile_graph(graph)
    assert len(model.kernels) == 1
    for m, n in ((2, 5), (5, 2)):
        given = {"x": np.arange(3 * m * n, dtype=np.float32).reshape(n, m, 3), "y": np.ones((m, n, 3), np.float32)}
        assert model.run(given)["z"].tolist() == (given["x"].transpose(1, 0, 2) + 1).tolist()


def test_an_operator_that_needs_a_size_names_itself() -> None:
    graph = from_text("graph f(x: float32[N, M]) {\n  let y = Hardmax(x)\n  return y\n}")
    with pytest.raises(UnsupportedGraphError, match=r"node 'y' \(Hardmax\).*the size M is not known") as refusal:
        compile_graph(graph)
    assert "sizes=" in str(refusal.value)


FLAT = """graph f(x: float32[N, M, 4], y: float32[K, 2], s: float32[1, 4]) {
  const rows: int64[2] = [-1, 4]
  const half: int64[3] = [0, -1, 2]
  const one: int64[1] = [1]
  const flat: int64[2] = [-1, 2]
  let a = Reshape(x, rows)
  let b = Mul(a, s)
  let shape = Shape(x)
  let c = Reshape(b, shape)
  let d = Reshape(c, half)
  let e = ReduceSum(d, one; keepdims=0)
  let f = Reshape(d, flat)
  let g = Concat(f, y; axis=0)
  let count = Size(x)
  return c, e, g, count
}"""


def test_products_of_open_sizes_are_sizes() -> None:
    graph = from_text(FLAT)
    model = compile_graph(graph)
    for n, m, k in ((1, 1, 1), (3, 5, 2), (4, 1, 7)):
        given = {"x": np.arange(4 * m * n, dtype=np.float32).reshape(n, m, 4), "y": np.ones((k, 2), np.float32),
                 "s": np.arange(4, dtype=np.float32)[None]}
        found = model.run(given)
        for name, value in interpret(graph, given).items():
            assert found[name].dtype == value.dtype
            assert found[name].tolist() == value.tolist()


def test_a_product_that_is_too_long_is_refused() -> None:
    model = compile_graph(from_text("""graph f(x: int8[N, 0], y: int8[M, 0]) {
  let s = Shape(x; start=0, end=1)
  let t = Shape(y; start=0, end=1)
  let z = Mul(s, t)
  return z
}"""))
    for n, m in ((1 << 20, 1 << 20), (1, 3)):
        assert model.run({"x": np.zeros((n, 0), np.int8), "y": np.zeros((m, 0), np.int8)})["z"].tolist() == [n * m]
    for n, m in (((1 << 20) + 1, 1 << 20), (1 << 40, 1 << 39), (1 << 32, 1 << 32)):
        with pytest.raises(UnsupportedGraphError, match="a value is larger than a model may have"):
            model.run({"x": np.zeros((n, 0), np.int8), "y": np.zeros((m, 0), np.int8)})


def test_a_size_that_makes_an_extent_negative_is_refused() -> None:
    model = compile_graph(from_text("""graph f(x: float32[1, 1, N], w: float32[1, 1, 5]) {
  let c = Conv(x, w)
  let y = Relu(c)
  return y
}"""))
    w = np.ones((1, 1, 5), np.float32)
    assert np.array_equal(model.run({"x": np.ones((1, 1, 6), np.float32), "w": w})["y"], np.full((1, 1, 2), 5))
    with pytest.raises(UnsupportedGraphError, match="a value has a negative extent") as refusal:
        model.run({"x": np.ones((1, 1, 2), np.float32), "w": w})
    assert "N - 4" in str(refusal.value)
    assert "with N = 2" in str(refusal.value)


def test_a_slice_that_ends_outside_says_what_is_negative_and_the_way_out() -> None:
    graph = from_text("""graph f(x: float32[N]) {
  const first: int64[1] = [1]
  const end: int64[1] = [3]
  let y = Slice(x, first, end)
  return y
}""")
    with pytest.raises(UnsupportedGraphError, match="or a slice ends outside") as refusal:
        compile_graph(graph).run({"x": np.ones(2, np.float32)})
    assert refusal.value.witness == "N - 3 with N = 2"
    assert "sizes={'N': 2}" in str(refusal.value)
    assert compile_graph(graph, sizes={"N": 2}).run({"x": np.ones(2, np.float32)})["y"].shape == (1,)


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("node", ["Conv(x, w)", "Conv(x, w; strides=[2])", "MaxPool(x; kernel_shape=[3])"])
def test_a_window_that_is_larger_than_the_data_is_refused_open_or_fixed(node: str, size: int) -> None:
    graph = from_text(f"""graph f(x: float32[1, 1, N]) {{
  const w: float32[1, 1, 3] = [1.0, 1.0, 1.0]
  let y = {node}
  return y
}}""")
    wanted = {"x": np.ones((1, 1, size), np.float32)}
    with pytest.raises(UnsupportedGraphError, match="larger than the data"):
        compile_graph(graph).run(wanted)
    with pytest.raises(UnsupportedGraphError, match="larger than the padded data"):
        compile_graph(graph, sizes={"N": size})
    assert compile_graph(graph).run({"x": np.ones((1, 1, 3), np.float32)})["y"].shape == (1, 1, 1)


@pytest.mark.parametrize(("start", "end"), [(0, 3), (-3, 2 ** 62), (1, 10 ** 9), (1, -1), (-3, -1), (-2, 2)])
def test_slices_of_open_extents_are_right_or_refused(start: int, end: int) -> None:
    """Where a slice begins in front of the data, or ends behind, other memory was read."""
    graph = from_text(f"""graph f(x: float32[N, 2]) {{
  const s: int64[1] = [{start}]
  const e: int64[1] = [{end}]
  const a: int64[1] = [0]
  let c = Slice(x, s, e, a)
  let y = Neg(c)
  return y
}}""")
    model, right = compile_graph(graph), 0
    for size in range(1, 6):
        x = np.arange(size * 2, dtype=np.float32).reshape(size, 2)
        with suppress(UnsupportedGraphError):
            np.testing.assert_array_equal(model.run({"x": x})["y"], -x[start:end])
            right += 1
    assert right >= 2


def test_a_softmax_of_an_older_operator_set_over_the_last_axis_takes_open_sizes() -> None:
    graph = from_text("graph f(x: float32[N, 2]) {\n  let y = Softmax(x; axis=1, flatten=1)\n  return y\n}")
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_allclose(compile_graph(graph).run({"x": x})["y"], interpret(graph, {"x": x})["y"], rtol=1e-6)


def test_places_along_open_sizes_are_computed() -> None:
    graph = from_text("""graph f(x: float32[N, N]) {
  const zero: int64[] = [0]
  const one: int64[] = [1]
  const two: int64[] = [2]
  const rest: int64[1] = [-1]
  const front: int64[1] = [-9223372036854775807]
  const steps: int64[1] = [-1]
  const k: int64[] = [1]
  let s = Shape(x)
  let n = Gather(s, zero)
  let whole = Reshape(n, rest)
  let row = Range(one, n, two)
  let upper = Trilu(x, k)
  let turned = Slice(x, rest, front, rest, steps)
  let sorted, places = TopK(x, whole; axis=0, largest=0)
  return row, upper, turned, sorted, places
}""")
    model = compile_graph(graph)
    for length in (1, 2, 5):
        x = np.random.default_rng(length).integers(0, 5, (length, length)).astype(np.float32)
        found = model.run({"x": x})
        np.testing.assert_array_equal(found["row"], np.arange(1, length, 2))
        np.testing.assert_array_equal(found["upper"], np.triu(x, 1))
        np.testing.assert_array_equal(found["turned"], x[:, ::-1])
        np.testing.assert_array_equal(found["sorted"], np.sort(x, axis=0))
        np.testing.assert_array_equal(found["places"], np.argsort(x, axis=0, kind="stable"))


def test_a_range_whose_steps_lead_away_from_an_open_size_is_refused() -> None:
    graph = from_text("""graph f(x: float32[N]) {
  const zero: int64[] = [0]
  const back: int64[] = [-1]
  let s = Shape(x)
  let n = Gather(s, zero)
  let y = Range(n, zero, back)
  return y
}""")
    with pytest.raises(UnsupportedGraphError, match="a range in steps of -1 whose end follows from an open size"):
        compile_graph(graph)
    assert compile_graph(graph, sizes={"N": 3}).run({"x": np.ones(3, np.float32)})["y"].tolist() == [3, 2, 1]


def test_indices_that_reach_beyond_open_data_are_refused() -> None:
    """The dimensions beside the axis: what stood behind the data was read."""
    graph = from_text("""graph f(x: float32[N, 2], i: int64[3, 2]) {
  let y = GatherElements(x, i; axis=1)
  return y
}""")
    model, i = compile_graph(graph), np.zeros((3, 2), np.int64)
    assert model.run({"x": np.arange(8, dtype=np.float32).reshape(4, 2), "i": i})["y"].tolist() == [
        [0, 0], [2, 2], [4, 4]]
    with pytest.raises(UnsupportedGraphError, match="larger than the data that it goes over"):
        model.run({"x": np.ones((2, 2), np.float32), "i": i})


PAIR = from_text("graph f(x: float32[N, 6], w: float32[6, 8]) { let y = MatMul(x, w) return y }")


def test_arrays_that_differ_from_those_of_the_last_call_are_checked() -> None:
    """Shapes and types that were right once are not checked again; nothing else is taken for them."""
    arguments, x, w = Arguments(PAIR), np.zeros((3, 6), np.float32), np.ones((6, 8), np.float32)
    for _ in range(2):
        given, sizes = arguments.of({"w": w, "x": x})
        assert list(given) == ["x", "w"]
        assert np.shares_memory(given["x"], x)
        assert sizes == {"N": 3}
    assert arguments.of({"x": np.zeros((5, 6), np.float32), "w": w})[1] == {"N": 5}
    for wrong, message in (({"x": x.astype(np.float64), "w": w}, "is float32"), ({"x": x}, "'w' is missing"),
                           ({"x": x, "w": w, "z": w}, "no input 'z'"), ({"x": w, "w": x}, "is float32"),
                           ({"x": x.tolist(), "w": w}, "is float32"), ({"x": x, "z": w}, "no input 'z'"),
                           ({"x": np.zeros((0, 6), np.float32), "w": w}, "size N is 0")):
        with pytest.raises(UnsupportedGraphError, match=message):
            arguments.of(wrong)


def test_arrays_with_gaps_are_copied_by_every_call() -> None:
    arguments, w = Arguments(PAIR), np.asfortranarray(np.arange(48, dtype=np.float32).reshape(6, 8))
    for rows in (2, 2, 3):
        x = np.arange(24 * rows, dtype=np.float32).reshape(rows, 24)[:, ::4]
        given, sizes = arguments.of({"x": x, "w": w})
        assert all(a.flags.c_contiguous for a in given.values())
        assert np.array_equal(given["x"], x)
        assert np.array_equal(given["w"], w)
        assert sizes == {"N": rows}


def test_what_is_kept_of_calls_is_bounded() -> None:
    arguments = Arguments(PAIR)
    for rows in range(1, 3 * LIMITS.most_sizes):
        assert arguments.of({"x": np.zeros((rows, 6), np.float32), "w": np.ones((6, 8), np.float32)})[1] == {"N": rows}
        assert len(arguments._known) <= LIMITS.most_sizes


@pytest.mark.parametrize("line", ["ConvInteger(b, v, z; auto_pad=\"SAME_UPPER\", strides=[2, 1])",
                                  "AveragePool(x; kernel_shape=[3, 2], auto_pad=\"SAME_LOWER\", strides=[2, 2])"])
def test_padding_that_follows_from_open_sizes(line: str) -> None:
    graph = from_text(f"""graph f(x: float32[1, 3, H, W], b: uint8[1, 3, H, W], v: uint8[4, 3, 3, 2], z: uint8[]) {{
  let y = {line}
  return y
}}""")
    model, rng = compile_graph(graph), np.random.default_rng(0)
    for height, width in ((1, 1), (4, 7), (9, 16)):
        given = {"x": rng.normal(size=(1, 3, height, width)).astype(np.float32), "z": np.array(3, np.uint8),
                 "b": rng.integers(0, 9, (1, 3, height, width), np.uint8),
                 "v": rng.integers(0, 9, (4, 3, 3, 2), np.uint8)}
        assert np.allclose(model.run(given)["y"], interpret(graph, given)["y"], rtol=1e-5, atol=1e-6)


def test_a_mask_is_not_lost_in_silence() -> None:
    graph = from_text("""graph f(x: float32[3]) {
  let y = Neg(x)
  return y
}""")
    with pytest.raises(UsageError, match="the value 'x' is a masked array"):
        compile_graph(graph)(x=np.ma.masked_array(np.ones(3, np.float32), [0, 1, 0]))
