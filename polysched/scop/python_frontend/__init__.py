"""Python functions over NumPy arrays to Scops.

    from polysched.scop.python_frontend import from_python

    def gemm(C: "float64[M, N]", A: "float64[M, K]", B: "float64[K, N]", alpha: float):
        for i in range(C.shape[0]):
            for j in range(C.shape[1]):
                for k in range(A.shape[1]):
                    C[i, j] += alpha * A[i, k] * B[k, j]

    scop = from_python(gemm)
"""

from polysched.scop.python_frontend.extraction import (
    Argument,
    Extent,
    PythonScop,
    extract,
    extract_for,
    from_python,
)

__all__ = ["Argument", "Extent", "PythonScop", "extract", "extract_for", "from_python"]
