"""`@polysched.kernel`: results against plain Python, what it shows, and what it refuses before anything runs."""

import copy
import math
import pickle

import numpy as np
import pytest

import polysched
from polysched.errors import UnsupportedScopError, UsageError, WrongResultError
from polysched.kernel import FallbackWarning, SharedMemoryError

RNG = np.random.default_rng(21)


@polysched.kernel
def gemm(C, A, B, alpha, beta):
    M, N = C.shape
    K = A.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] *= beta
            for k in range(K):
                C[i, j] += alpha * A[i, k] * B[k, j]


@polysched.kernel
def shift(x, y):
    x[1:] = y[:-1] * 2 + x[1:]


@polysched.kernel
def softmax(X):
    e = np.exp(X - np.max(X, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def operands(m=7, n=9, k=33, dtype="float64"):
    return [RNG.random(s).astype(dtype) for s in ((m, n), (m, k), (k, n))]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("edge", [7, 8, 9, 31, 32, 33])
def test_gemm_computes_what_numpy_computes(dtype: str, edge: int) -> None:
    C, A, B = operands(edge, edge + 1, 33, dtype)
    expected = 1.5 * A @ B + 0.5 * C
    gemm(C, A, B, 1.5, 0.5)
    np.testing.assert_allclose(C, expected, rtol=1e-4 if dtype == "float32" else 1e-12)


def test_what_there_is_to_explore() -> None:
    C, A, B = operands()
    gemm(C, A, B, 1.5, 0.5)
    assert [s.name for s in gemm.scop.statements] == ["S0", "S1"]
    assert gemm.schedule.algorithm == "pluto"
    assert "C[i][j] *= beta;" in gemm.c_source
    timing = gemm.time(C, A, B, 1.5, 0.5, repeats=2, against=gemm.function)
    assert len(timing.seconds) == len(timing.against_seconds) == 2
    assert "times as fast" in str(timing)
    assert gemm.__name__ == "gemm"


def test_annotations_are_enough_to_explore() -> None:
    @polysched.kernel(options=polysched.PipelineOptions(tile="off", parallel=False))
    def scale(x: "float64[N]", s: float):  # noqa: F821
        x *= s
    assert "x[i] *= s;" in scale.c_source
    assert "omp parallel" not in scale.c_source


def test_returned_arrays_and_numbers() -> None:
    X = RNG.random((5, 6))
    e = np.exp(X - X.max(1, keepdims=True))
    np.testing.assert_allclose(softmax(X), e / e.sum(1, keepdims=True), rtol=1e-12)

    @polysched.kernel
    def statistics(x):
        count = 0
        total = 0.0
        for i in range(len(x)):
            if x[i] > 0.5:
                count += 1
            total += x[i]
        x[0] = 0
        return count, total, x
    x = RNG.random(9)
    copy = x.copy()
    count, total, same = statistics(x)
    assert (count, type(count)) == (int((copy > 0.5).sum()), int)
    assert total == pytest.approx(copy.sum())
    assert same is x


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float16", "bool"])
def test_other_types(dtype: str) -> None:
    @polysched.kernel
    def mix(a, b):
        for i in range(len(a)):
            b[i] = a[i] + b[i] if a[i] > 0 else a[i]
    a = RNG.integers(0, 2, 9).astype(dtype) if dtype == "bool" else (RNG.random(9) * 100 - 20).astype(
        "int64").astype(dtype)
    b = a[::-1].copy()
    expected = b.copy()
    with np.errstate(all="ignore"):
        mix.function(a, expected)
    mix(a, b)
    np.testing.assert_array_equal(b, expected)


def test_signed_integers_wrap_as_in_numpy() -> None:
    @polysched.kernel
    def double(a):
        a += a
    a = np.array([2**31 - 1, -2**31, 5], "int32")
    double(a)
    assert a.tolist() == [-2, 0, 10]


@pytest.mark.parametrize("layout", ["transposed", "strided", "reversed", "fortran", "unaligned"])
def test_arrays_that_are_not_contiguous(layout: str) -> None:
    C, A, B = operands(6, 6, 6)
    expected = 1.5 * A @ B + 0.5 * C
    if layout == "transposed":
        target = C.T.copy().T
    elif layout == "strided":
        target = np.zeros((12, 18))[::2, ::3]
    elif layout == "reversed":
        target = np.zeros((6, 6))[::-1, ::-1]
    elif layout == "fortran":
        target = np.zeros((6, 6), order="F")
    else:
        target = np.zeros(6 * 6 * 8 + 1, np.uint8)[1:].view(np.float64).reshape(6, 6)
    target[...] = C
    gemm(target, A.T.copy().T, B[::-1][::-1], 1.5, 0.5)
    np.testing.assert_allclose(target, expected, rtol=1e-12)


def test_the_same_array_twice() -> None:
    x = RNG.random(8)
    expected = x.copy()
    shift.function(expected, expected)
    shift(x, x)
    np.testing.assert_allclose(x, expected)
    C, A, _ = operands(5, 5, 5)
    expected = C.copy()
    gemm.function(expected, expected, A, 1.0, 1.0)
    gemm(C, C, A, 1.0, 1.0)
    np.testing.assert_allclose(C, expected)


def test_arrays_that_are_only_read_may_overlap() -> None:
    C, A, _ = operands(5, 5, 5)
    expected = 1.0 * A @ A[:, :] + C
    gemm(C, A, A, 1.0, 1.0)
    np.testing.assert_allclose(C, expected)


def test_overlapping_arrays_are_refused_before_anything_runs() -> None:
    memory = RNG.random(9)
    before = memory.copy()
    with pytest.raises(SharedMemoryError, match="shift: x and y overlap, and one of them is written"):
        shift(memory[1:], memory[:-1])
    np.testing.assert_array_equal(memory, before)


def test_overlapping_arrays_with_fallback_run_as_python() -> None:
    careful = polysched.kernel(shift.function, fallback=True)
    memory = RNG.random(9)
    expected = memory.copy()
    shift.function(expected[1:], expected[:-1])
    with pytest.warns(FallbackWarning, match="x and y overlap"):
        careful(memory[1:], memory[:-1])
    np.testing.assert_array_equal(memory, expected)


def test_empty_arrays_and_loops() -> None:
    C, A, B = operands(3, 4, 0)
    expected = C * 0.5
    gemm(C, A, B, 1.5, 0.5)
    np.testing.assert_allclose(C, expected)
    gemm(np.zeros((0, 4)), np.zeros((0, 2)), np.zeros((1, 3)), 1.0, 1.0)


def unchanged(call, *arrays) -> None:
    before = [a.copy() for a in arrays]
    call()
    for a, b in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("change", "message"), [
    (lambda C, A, B: (C, A[:5], B), "gemm: the shapes do not fit\n  witness: M = 7, N = 9, A_0 = 5"),
    (lambda C, A, B: (C, A, B[:, :5]), "it has to hold that every subscript of B lies inside its extents"),
    (lambda C, A, B: (C.astype(">f8"), A, B), "C is an array of float64 in foreign byte order"),
    (lambda C, A, B: (C, A, "text"), "the argument B is a str"),
    (lambda C, A, B: (C, A), "missing a required argument"),
    (lambda C, A, B: (C[0], A, B), "a tuple does not unpack into 2 names"),
])
def test_arguments_that_do_not_fit_are_refused(change, message: str) -> None:
    C, A, B = operands()
    changed = change(C, A, B)

    def call() -> None:
        with pytest.raises((UsageError, UnsupportedScopError)) as caught:
            gemm(*changed, *([1.5, 0.5] if len(changed) == 3 else []))
        assert message in str(caught.value)
    unchanged(call, C, A, B)


def test_read_only_and_self_overlapping_arrays_are_refused() -> None:
    C, A, B = operands()
    C.flags.writeable = False
    with pytest.raises(UsageError, match="gemm: C is written, but the array is read-only"):
        gemm(C, A, B, 1.5, 0.5)
    stacked = np.lib.stride_tricks.as_strided(np.zeros(9), (7, 9), (0, 8))
    with pytest.raises(UsageError, match="gemm: C is written, but its elements overlap each other"):
        gemm(stacked, A, B, 1.5, 0.5)
    A.flags.writeable = False
    gemm(C.copy(), A, B, 1.5, 0.5)


@polysched.kernel
def annotated(C: "float64[M, N]", x: "float32[2 * N + 1]", n: int, s: float):  # noqa: F821
    for i in range(n):
        C[i, 0] += x[2 * i] * s


@pytest.mark.parametrize(("arguments", "message"), [
    ((np.zeros((3, 4), "f"), np.zeros(9, "f"), 1, 1.0),
     "annotated: C is an array of 2 dimensions of float32, the kernel takes an array of 2 dimensions of float64"),
    ((np.zeros(3), np.zeros(9, "f"), 1, 1.0), "C is an array of 1 dimensions of float64"),
    ((np.zeros((3, 4)), np.zeros(8, "f"), 1, 1.0),
     "annotated: x has the shape (8,), its extent 0 has to be 2 * N + 1 = 9"),
    ((np.zeros((3, 4)), np.zeros(9, "f"), 1.5, 1.0), "n is a float, the kernel takes a number of type int64"),
    ((np.zeros((3, 4)), np.zeros(9, "f"), 1, "s"), "the argument s is a str"),
    ((np.zeros((3, 4)), np.zeros(9, "f"), 4, 1.0), "annotated: the shapes do not fit"),
    (([1], np.zeros(9, "f"), 4, 1.0), "the argument C is a list"),
    ((np.zeros((3, 4), ">f8"), np.zeros(9, "f"), 1, 1.0), "C is an array of float64 in foreign byte order"),
])
def test_annotated_arguments_that_do_not_fit_are_refused(arguments, message: str) -> None:
    with pytest.raises((UsageError, UnsupportedScopError)) as caught:
        annotated(*arguments)
    assert message in str(caught.value)


def test_what_is_not_affine_is_refused_or_runs_as_python() -> None:
    def gather(x, index):
        for i in range(len(x)):
            x[i] = x[index[i]]
            index[i] = index[i] + 0
    x, index = np.arange(4.0), np.array([3, 2, 1, 0])
    with pytest.raises(UnsupportedScopError, match="the subscript depends on index, which the kernel computes"):
        polysched.kernel(gather)(x, index)
    careful = polysched.kernel(gather, fallback=True)
    with pytest.warns(FallbackWarning, match="gather runs as plain Python: .*the subscript depends on index"):
        careful(x, index)
    assert x.tolist() == [3.0, 2.0, 2.0, 3.0]
    assert "the subscript depends on index" in careful.fallback_reason


def test_a_changed_outer_number_is_noticed() -> None:
    scale = 2.0

    @polysched.kernel
    def multiply(x):
        x *= scale
    x = np.ones(3)
    multiply(x)
    scale = 5.0
    multiply(x)
    assert x.tolist() == [10.0, 10.0, 10.0]


def test_a_changed_outer_number_is_noticed_though_it_is_equal() -> None:
    scale: object = None

    @polysched.kernel
    def multiplied(x):
        return x * scale

    @polysched.kernel
    def divided(x):
        return x / scale
    x = np.array([1, -2, 3])
    for scale in (1, 1.0, True, np.float32(1), np.int8(1), 1):
        found, expected = multiplied(x), x * scale
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    for scale in (0.0, -0.0):
        with np.errstate(divide="ignore"):
            np.testing.assert_array_equal(divided(x), x / scale)


class Settings:
    """Numbers beside a kernel."""

    scale = 2
    dtype = np.float32


@polysched.kernel
def configured(x):
    return (x * Settings.scale).astype(Settings.dtype)


def test_a_changed_part_of_a_class_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(4)
    for scale, dtype in ((2, np.float32), (3, np.float32), (3, np.int16), (0.5, np.float64)):
        monkeypatch.setattr(Settings, "scale", scale)
        monkeypatch.setattr(Settings, "dtype", dtype)
        found = configured(x)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, (x * scale).astype(dtype))


def rounded_by(function, library):
    @polysched.kernel
    def rounded(x):
        for i in range(x.shape[0]):
            x[i] = function(x[i]) + library.floor(x[i])
    return rounded


@pytest.mark.parametrize(("function", "library"), [(np.floor, np), (np.ceil, np), (abs, np), (np.sqrt, math)])
def test_the_cache_tells_functions_apart_that_have_one_name(
        function: object, library: object, monkeypatch: pytest.MonkeyPatch,
        tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "functions"))
    found, expected = np.array([0.5, 2.25, 1.75]), np.array([0.5, 2.25, 1.75])
    kernel = rounded_by(function, library)
    kernel(found)
    kernel.function(expected)
    np.testing.assert_array_equal(found, expected)


def test_another_function_of_the_same_name_is_noticed() -> None:
    function = np.floor

    @polysched.kernel
    def applied(x):
        return function(x)
    x = np.array([0.5, 2.25, -1.75])
    for function in (np.floor, np.ceil, np.absolute):
        np.testing.assert_array_equal(applied(x), function(x))


def test_a_comparison_with_something_else_gives_no_time() -> None:
    C, A, B = operands()
    with pytest.raises(WrongResultError, match="gemm: C differs from what it is compared with"):
        gemm.time(C, A, B, 1.5, 0.5, repeats=1, against=lambda C, A, B, alpha, beta: None)


def test_large_temporaries_are_not_on_the_stack() -> None:
    @polysched.kernel
    def twice(x):
        t = x * 2
        x[:] = t[::-1]
    x = RNG.random(4_000_000)
    expected = (x * 2)[::-1]
    twice(x)
    np.testing.assert_array_equal(x, expected)


def test_sizes_that_the_first_call_did_not_have() -> None:
    @polysched.kernel
    def add(x, y, n):
        for i in range(min(n, len(x))):
            x[i] += y[i]
    for n, extents in ((5, (9, 9)), (9, (4, 4)), (3, (9, 4)), (4, (9, 4)), (0, (2, 2)), (20, (9, 12))):
        x, y = RNG.random(extents[0]), RNG.random(extents[1])
        expected = x.copy()
        add.function(expected, y, n)
        add(x, y, n)
        np.testing.assert_allclose(x, expected)
    with pytest.raises(UsageError, match="add: the shapes do not fit"):
        add(RNG.random(9), RNG.random(4), 5)


def test_temporaries_that_do_not_fit_the_memory() -> None:
    resource = pytest.importorskip("resource")

    @polysched.kernel
    def outer(x, y):
        t = np.zeros((len(x), len(y)))
        for i in range(len(x)):
            for j in range(len(y)):
                t[i, j] = x[i] * y[j]
        for i in range(len(x)):
            x[i] = t[i, i // 2] + t[i // 2, i]
    small = RNG.random(6)
    outer(small, small.copy())
    x, y = np.ones(300_000), np.ones(300_000)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (64 << 30, hard))
    try:
        with pytest.raises(MemoryError, match="outer: no memory for the temporaries"):
            outer(x, y)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert x.sum() == 300_000


def test_arrays_without_dimensions_and_large_integers() -> None:
    @polysched.kernel
    def add(total, x, factor):
        total[()] += factor * x[0]
        for i in range(len(x)):
            total[...] += x[i]
    x, total, factor = RNG.random(5), np.array(1.0), np.array(2.0)
    add(total, x, factor)
    assert total == pytest.approx(1 + 2 * x[0] + x.sum())

    @polysched.kernel
    def fill(x, n):
        for i in range(min(n, len(x))):
            x[i] = n
    fill(x, 2**62)
    assert (x == 2.0**62).all()
    with pytest.raises(UsageError, match="fill: n is 9223372036854775808, the kernel takes a number of type int64"):
        fill(x, 2**63)


def test_sizes_that_fit_no_case_are_refused_before_anything_runs() -> None:
    @polysched.kernel
    def stagger(x, y, n):
        for i in range(n):
            x[i] += 1
            for j in range(i + 1, len(x), 2):
                y[j] = x[j] + y[i]
    for n, extents in ((4, (9, 9)), (9, (9, 9)), (3, (9, 10)), (5, (8, 8)), (4, (9, 8))):
        x, y = RNG.random(extents[0]), RNG.random(extents[1])
        expected_x, expected_y = x.copy(), y.copy()
        try:
            stagger.function(expected_x, expected_y, n)
        except IndexError:
            before = x.copy()
            with pytest.raises(UsageError, match="stagger: the shapes do not fit"):
                stagger(x, y, n)
            np.testing.assert_array_equal(x, before)
            continue
        stagger(x, y, n)
        np.testing.assert_allclose(x, expected_x)
        np.testing.assert_allclose(y, expected_y)


def test_a_kernel_is_pickled_by_its_name_as_a_function() -> None:
    assert pickle.loads(pickle.dumps(gemm)) is gemm
    assert copy.deepcopy([gemm])[0] is gemm


def test_a_kernel_is_shown_by_its_name_and_arguments():
    @polysched.kernel
    def scaled(y, x, alpha):
        for i in range(x.shape[0]):
            y[i] = alpha * x[i]

    assert repr(scaled).startswith("<polysched.kernel: test_a_kernel_is_shown")
    assert repr(scaled).endswith("scaled(y, x, alpha)>")
