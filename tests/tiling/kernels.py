"""Small programs as Scops, written from the mathematics, for the tests of tiling."""

from functools import cache

from polysched.scop.scop import Scop
from tests.scop_builder import build_scop

CUBE = "[i, j, k] : 0 <= i < N and 0 <= j < N and 0 <= k < N"
INSIDE = "[t, i, j] : 0 <= t < T and 1 <= i < N - 1 and 1 <= j < N - 1"


@cache
def product() -> Scop:
    """C += A B."""
    return build_scop([_update("S", "C", "A", "B")], "{ S[i, j, k] -> [i, j, k] }", name="product")


@cache
def product_with_start() -> Scop:
    """C = 0; C += A B."""
    return build_scop([
        ("I", "{ I[i, j] : 0 <= i < N and 0 <= j < N }", [], ["{ I[i, j] -> C[i, j] }"]),
        _update("S", "C", "A", "B"),
    ], "{ I[i, j] -> [i, j, 0, 0]; S[i, j, k] -> [i, j, 1, k] }", name="product_with_start")


@cache
def time_with_two_products() -> Scop:
    """for t: C += A B; A += C C."""
    timed = "[t, i, j, k] : 0 <= t < T and 0 <= i < N and 0 <= j < N and 0 <= k < N"
    def update(name: str, c: str, a: str, b: str) -> tuple[str, str, list[str], list[str]]:
        at = f"{name}[t, i, j, k] -> "
        return (name, f"{{ {name}{timed} }}", [f"{{ {at}{c}[i, j] }}", f"{{ {at}{a}[i, k] }}", f"{{ {at}{b}[k, j] }}"],
                [f"{{ {at}{c}[i, j] }}"])
    return build_scop([update("S", "C", "A", "B"), update("R", "A", "C", "C")],
                      "{ S[t, i, j, k] -> [t, 0, i, j, k]; R[t, i, j, k] -> [t, 1, i, j, k] }", name="two_products")


@cache
def gauss_seidel() -> Scop:
    """A nine-point average in place, over time."""
    reads = [f"{{ S[t, i, j] -> A[i + {a}, j + {b}] }}" for a in (-1, 0, 1) for b in (-1, 0, 1)]
    return build_scop([("S", f"{{ S{INSIDE} }}", reads, ["{ S[t, i, j] -> A[i, j] }"])],
                      "{ S[t, i, j] -> [t, i, j] }", context="{ : N >= 3 and T >= 1 }", name="gauss_seidel")


@cache
def jacobi() -> Scop:
    """A five-point average from A to B and back, over time."""
    def step(name: str, source: str, target: str) -> tuple[str, str, list[str], list[str]]:
        reads = [f"{{ {name}[t, i, j] -> {source}[i + {a}, j + {b}] }}"
                 for a, b in ((0, 0), (0, -1), (0, 1), (-1, 0), (1, 0))]
        return (name, f"{{ {name}{INSIDE} }}", reads, [f"{{ {name}[t, i, j] -> {target}[i, j] }}"])
    return build_scop([step("P", "A", "B"), step("Q", "B", "A")],
                      "{ P[t, i, j] -> [t, 0, i, j]; Q[t, i, j] -> [t, 1, i, j] }",
                      context="{ : N >= 3 and T >= 1 }", name="jacobi")


@cache
def elimination() -> Scop:
    """LU decomposition in place."""
    return build_scop([
        ("D", "{ D[k, i] : 0 <= k < N and k < i < N }", ["{ D[k, i] -> A[i, k] }", "{ D[k, i] -> A[k, k] }"],
         ["{ D[k, i] -> A[i, k] }"]),
        ("U", "{ U[k, i, j] : 0 <= k < N and k < i < N and k < j < N }",
         ["{ U[k, i, j] -> A[i, j] }", "{ U[k, i, j] -> A[i, k] }", "{ U[k, i, j] -> A[k, j] }"],
         ["{ U[k, i, j] -> A[i, j] }"]),
    ], "{ D[k, i] -> [k, 0, i, 0]; U[k, i, j] -> [k, 1, i, j] }", name="elimination")


@cache
def copy() -> Scop:
    """y = x."""
    return build_scop([("S", "{ S[i] : 0 <= i < N }", ["{ S[i] -> x[i] }"], ["{ S[i] -> y[i] }"])],
                      "{ S[i] -> [i] }", name="copy")


def _update(name: str, c: str, a: str, b: str) -> tuple[str, str, list[str], list[str]]:
    at = f"{name}[i, j, k] -> "
    return (name, f"{{ {name}{CUBE} }}", [f"{{ {at}{c}[i, j] }}", f"{{ {at}{a}[i, k] }}", f"{{ {at}{b}[k, j] }}"],
            [f"{{ {at}{c}[i, j] }}"])
