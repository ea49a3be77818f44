"""The kernels compute what their comments say: compiled as written, compared with the definition in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from polysched.fuzz.batch import SCALAR_VALUE, Job, Version, arguments_for, compile_batch, inputs_of, run_batch
from polysched.scop import from_c_file
from polysched.target import find_compiler

FOLDER = Path(__file__).parent
SIZES = {"n": 9, "m": 7, "k": 6, "l": 8, "q": 5, "nr": 4, "nq": 3, "np": 5, "nx": 6, "ny": 7, "w": 6, "h": 5,
         "steps": 3, "sweeps": 2, "taps": 4}
F = SCALAR_VALUE
Arrays = Mapping[str, np.ndarray]
DEFINITIONS: dict[str, Callable[[Arrays], Mapping[str, np.ndarray]]] = {}


def defines(function: Callable[[Arrays], Mapping[str, np.ndarray]]) -> Callable[[Arrays], Mapping[str, np.ndarray]]:
    """Enter a definition under its function's name."""
    DEFINITIONS[function.__name__] = function
    return function


@defines
def covariance(a: Arrays) -> Arrays:
    return {"mean": a["x"].mean(axis=0), "cov": np.cov(a["x"], rowvar=False)}


@defines
def correlation(a: Arrays) -> Arrays:
    return {"sd": a["x"].std(axis=0), "corr": np.corrcoef(a["x"], rowvar=False)}


@defines
def gemm(a: Arrays) -> Arrays:
    return {"C": F * a["A"] @ a["B"] + F * a["C"]}


@defines
def gemver(a: Arrays) -> Arrays:
    matrix = a["A"] + np.outer(a["u"], a["v"]) + np.outer(a["s"], a["t"])
    x = a["x"] + F * matrix.T @ a["y"] + a["z"]
    return {"A": matrix, "x": x, "w": a["w"] + F * matrix @ x}


@defines
def gesummv(a: Arrays) -> Arrays:
    return {"y": F * a["A"] @ a["x"] + F * a["B"] @ a["x"]}


@defines
def symm(a: Arrays) -> Arrays:
    symmetric = np.tril(a["A"]) + np.tril(a["A"], -1).T
    return {"C": F * symmetric @ a["B"] + F * a["C"]}


@defines
def syr2k(a: Arrays) -> Arrays:
    full = F * a["C"] + F * (a["A"] @ a["B"].T + a["B"] @ a["A"].T)
    return {"C": np.tril(full) + np.triu(a["C"], 1)}


@defines
def syrk(a: Arrays) -> Arrays:
    return {"C": np.triu(F * a["C"] + F * a["A"] @ a["A"].T) + np.tril(a["C"], -1)}


@defines
def trmm(a: Arrays) -> Arrays:
    return {"B": F * np.triu(a["A"]) @ a["B"]}


@defines
def mm2(a: Arrays) -> Arrays:
    return {"D": F * a["A"] @ a["B"] @ a["C"] + F * a["D"]}


@defines
def mm3(a: Arrays) -> Arrays:
    return {"G": (a["A"] @ a["B"]) @ (a["C"] @ a["D"])}


@defines
def atax(a: Arrays) -> Arrays:
    return {"y": a["A"].T @ (a["A"] @ a["x"])}


@defines
def bicg(a: Arrays) -> Arrays:
    return {"s": a["A"].T @ a["r"], "q": a["A"] @ a["p"]}


@defines
def doitgen(a: Arrays) -> Arrays:
    return {"A": np.einsum("rqs,sp->rqp", a["A"], a["M"])}


@defines
def mvt(a: Arrays) -> Arrays:
    return {"a": a["a"] + a["M"] @ a["b"], "c": a["c"] + a["M"].T @ a["d"]}


@defines
def cholesky(a: Arrays) -> Arrays:
    symmetric = np.tril(a["A"]) + np.tril(a["A"], -1).T
    return {"A": np.tril(np.linalg.cholesky(symmetric)) + np.triu(a["A"], 1)}


@defines
def durbin(a: Arrays) -> Arrays:
    size = len(a["r"])
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    toeplitz = np.where(distance == 0, 2.0 * size, a["r"][distance - 1])
    return {"y": np.linalg.solve(toeplitz, -a["r"])}


@defines
def gramschmidt(a: Arrays) -> Arrays:
    q, r = np.linalg.qr(a["A"])
    signs = np.sign(np.diag(r))
    return {"Q": q * signs, "R": np.triu(r * signs[:, None]) + np.tril(a["R"], -1)}


def factors(matrix: np.ndarray) -> np.ndarray:
    """L and U in one matrix, by block elimination: the last row and column from the factors of the rest."""
    if len(matrix) == 1:
        return matrix.copy()
    rest = factors(matrix[:-1, :-1])
    lower, upper = np.tril(rest, -1) + np.eye(len(rest)), np.triu(rest)
    row, column = np.linalg.solve(upper.T, matrix[-1, :-1]), np.linalg.solve(lower, matrix[:-1, -1])
    return np.block([[rest, column[:, None]], [row[None, :], np.array([[matrix[-1, -1] - row @ column]])]])


@defines
def lu(a: Arrays) -> Arrays:
    return {"A": factors(a["A"])}


@defines
def ludcmp(a: Arrays) -> Arrays:
    return {"A": factors(a["A"]), "x": np.linalg.solve(a["A"], a["b"])}


@defines
def trisolv(a: Arrays) -> Arrays:
    return {"x": np.linalg.solve(np.tril(a["L"]), a["b"])}


def smoothed(lines: np.ndarray) -> np.ndarray:
    """Deriche's filter along the last axis as one matrix: the sum of both recursions applied to unit impulses."""
    size, e = lines.shape[-1], np.exp(-F)
    k = (1 - e) ** 2 / (1 + 2 * F * e - e * e)
    recursion = np.eye(size) - 2 * e * np.eye(size, k=-1) + e * e * np.eye(size, k=-2)
    causal = k * np.eye(size) + k * e * (F - 1) * np.eye(size, k=-1)
    anticausal = k * e * (F + 1) * np.eye(size, k=1) - k * e * e * np.eye(size, k=2)
    return lines @ (np.linalg.solve(recursion, causal) + np.linalg.solve(recursion.T, anticausal)).T


@defines
def deriche(a: Arrays) -> Arrays:
    return {"out": smoothed(smoothed(a["image"]).T).T}


@defines
def floyd_warshall(a: Arrays) -> Arrays:
    length = a["d"].copy()
    for k in range(len(length)):
        length = np.minimum(length, length[:, k, None] + length[None, k, :])
    return {"d": length}


@defines
def nussinov(a: Arrays) -> Arrays:
    base, table = a["base"] % 4, a["t"].copy()
    size = len(base)
    for length in range(1, size):
        for i in range(size - length):
            j = i + length
            inside = table[i + 1, j - 1] + (int(base[i] + base[j] == 3) if length > 1 else 0)
            parts = [table[i, k] + table[k + 1, j] for k in range(i + 1, j)]
            table[i, j] = max(table[i, j], table[i, j - 1], table[i + 1, j], inside, *parts)
    return {"t": table}


@defines
def adi(a: Arrays) -> Arrays:
    u, v, size, steps = a["u"].copy(), a["v"].copy(), SIZES["n"], SIZES["steps"]
    ratio = size * size / (steps + 1)
    second = -2 * np.eye(size) + np.eye(size, k=1) + np.eye(size, k=-1)

    def implicit(factor: float) -> np.ndarray:
        matrix = np.eye(size) - factor * second
        matrix[[0, -1]] = np.eye(size)[[0, -1]]
        return matrix
    along, across = ratio / 2, ratio / 4
    for _ in range(steps):
        right = u + across * u @ second
        right[[0, -1]] = 1
        v[:, 1:-1] = np.linalg.solve(implicit(along), right)[:, 1:-1]
        right = v + along * second @ v
        right[:, [0, -1]] = 1
        u[1:-1] = np.linalg.solve(implicit(across), right.T).T[1:-1]
    return {"u": u, "v": v}


@defines
def fdtd_2d(a: Arrays) -> Arrays:
    ex, ey, hz = a["ex"].copy(), a["ey"].copy(), a["hz"].copy()
    for t in range(SIZES["steps"]):
        ey[0] = a["src"][t]
        ey[1:] -= 0.5 * np.diff(hz, axis=0)
        ex[:, 1:] -= 0.5 * np.diff(hz, axis=1)
        hz[:-1, :-1] -= 0.7 * (np.diff(ex, axis=1)[:-1] + np.diff(ey, axis=0)[:, :-1])
    return {"ex": ex, "ey": ey, "hz": hz}


@defines
def heat_3d(a: Arrays) -> Arrays:
    grids = [a["a"].copy(), a["b"].copy()]
    inner = (slice(1, -1),) * 3
    for step in range(2 * SIZES["steps"]):
        old, new = grids[step % 2], grids[1 - step % 2]
        curvature = sum(np.diff(old, 2, axis=axis)[tuple(slice(None) if d == axis else slice(1, -1) for d in range(3))]
                        for axis in range(3))
        new[inner] = old[inner] + 0.125 * curvature
    return {"a": grids[0], "b": grids[1]}


@defines
def jacobi_1d(a: Arrays) -> Arrays:
    grids = [a["a"].copy(), a["b"].copy()]
    for step in range(2 * SIZES["steps"]):
        grids[1 - step % 2][1:-1] = np.convolve(grids[step % 2], np.ones(3) / 3, "valid")
    return {"a": grids[0], "b": grids[1]}


@defines
def jacobi_2d(a: Arrays) -> Arrays:
    grids = [a["a"].copy(), a["b"].copy()]
    for step in range(2 * SIZES["steps"]):
        old = grids[step % 2]
        grids[1 - step % 2][1:-1, 1:-1] = (old[1:-1, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:] + old[:-2, 1:-1]
                                           + old[2:, 1:-1]) / 5
    return {"a": grids[0], "b": grids[1]}


@defines
def seidel_2d(a: Arrays) -> Arrays:
    grid = a["a"].copy()
    for _ in range(SIZES["sweeps"]):
        for i, j in np.ndindex(len(grid) - 2, len(grid) - 2):
            grid[i + 1, j + 1] = grid[i:i + 3, j:j + 3].mean()
    return {"a": grid}


@defines
def red_black(a: Arrays) -> Arrays:
    grid = a["a"].copy()
    colour = np.add.outer(np.arange(len(grid)), np.arange(len(grid))) % 2
    for _ in range(SIZES["sweeps"]):
        for parity in (1, 0):
            mean = (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]) / 4
            grid[1:-1, 1:-1] = np.where(colour[1:-1, 1:-1] == parity, mean, grid[1:-1, 1:-1])
    return {"a": grid}


@defines
def smooth_border(a: Arrays) -> Arrays:
    image = a["in"].astype(int)
    out = image.copy()
    out[1:-1, 1:-1] = (4 * image[1:-1, 1:-1] + image[:-2, 1:-1] + image[2:, 1:-1] + image[1:-1, :-2]
                       + image[1:-1, 2:]) // 8
    mark = a["mark"].astype(int)
    height, width = mark.shape
    mark[np.ix_([0, -1], [0, -1])] += 255
    central = (2 * np.arange(height)[:, None] == height - 1) | (2 * np.arange(width)[None, :] == width - 1)
    return {"out": out, "mark": (mark + 100 * central) % 256}


@defines
def fir_decimate(a: Arrays) -> Arrays:
    return {"y": np.convolve(a["x"], a["c"][::-1], "valid")[:3 * SIZES["n"]:3]}


@defines
def row_statistics(a: Arrays) -> Arrays:
    low, high = a["x"].min(axis=1, keepdims=True), a["x"].max(axis=1, keepdims=True)
    scaled = (a["x"] - low) / (high - low + 1)
    return {"y": scaled, "total": scaled.sum(keepdims=True).reshape(1), "count": np.array([scaled.size])}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Arrays, Arrays]]:
    """Inputs and outputs of every kernel, compiled as written in one go."""
    folder = tmp_path_factory.mktemp("kernels")
    signatures = {p.stem: from_c_file(p).source.signature for p in sorted(FOLDER.glob("*.c"))}
    versions = [Version(label=f"run_{name}", text=(FOLDER / f"{name}.c").read_text(), function=name)
                for name in signatures]
    jobs = [Job(label=f"run_{name}", arguments=arguments_for(signature, SIZES), seed=5)
            for name, signature in signatures.items()]
    binary = compile_batch(versions, name="kernels", folder=folder, compiler=find_compiler())
    done = run_batch(binary, jobs, folder=folder)
    assert not [r.failure for r in done if r.failure]
    return {name: (inputs_of(job.arguments, 5), result.arrays)
            for name, job, result in zip(signatures, jobs, done, strict=True)}


@pytest.mark.parametrize("name", sorted(p.stem for p in FOLDER.glob("*.c")))
def test_a_kernel_computes_its_definition(name: str, results: dict[str, tuple[Arrays, Arrays]]) -> None:
    given, got = results[name]
    wide = {key: value.astype(np.float64) if value.dtype.kind == "f" else value for key, value in given.items()}
    for array, expected in DEFINITIONS[name](wide).items():
        tolerance = 2e-5 if got[array].dtype == np.float32 else 1e-11
        np.testing.assert_allclose(got[array], expected, rtol=tolerance, atol=tolerance, err_msg=f"{name}: {array}")
