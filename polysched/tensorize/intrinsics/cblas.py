"""Library calls: CBLAS matrix product, matrix-vector product and the batched product.

They compute `beta * C + alpha * A * B`; a program without these factors gets 1, one that clears its result beta = 0.
Extents are the caller's; a precondition of every matrix is that its last subscript moves by one element and the one
before by a constant leading dimension, at least as large as the row.
"""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register

ISA = Isa(name="cblas", machine="library", headers=("cblas.h",), flags=("-lopenblas",),
          manual="BLAS Technical Forum Standard (2001), appendix B.2; batched: Intel oneMKL reference")
MEMORY = Register(c_type="", load="")
ROWS = "unit stride in the last subscript, constant leading dimension in the one before, not less than the row"
COST = Cost(issue_cycles=1, latency_cycles=1000, source="per multiply-add at the machine's peak; calling overhead")


def _memory(names: str) -> tuple[Operand, ...]:
    return (*(Operand(name=n, register=MEMORY, mode=LoadMode.MEMORY, stride=ROWS) for n in names),
            *(Operand(name=n, register=MEMORY, mode=LoadMode.VALUE) for n in ("alpha", "beta")))


def _gemm(letter: str, c_type: str) -> Intrinsic:
    return Intrinsic(
        name=f"cblas_{letter}gemm", isa=ISA, cost=COST, section="level 3, GEMM", library=True, operands=_memory("CAB"),
        semantics=f"""
void cblas_{letter}gemm(int M, int N, int K, {c_type} C[M][N], const {c_type} A[M][K], const {c_type} B[K][N],
                        {c_type} alpha, {c_type} beta) {{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++)
            C[m][n] = beta * C[m][n];
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++)
            for (int k = 0; k < K; k++)
                C[m][n] += alpha * A[m][k] * B[k][n];
}}""",
        template=(f"cblas_{letter}gemm(CblasRowMajor, {{transpose_A}}, {{transpose_B}}, {{M}}, {{N}}, {{K}}, "
                  "{alpha}, {A}, {stride_A}, {B}, {stride_B}, {beta}, {C}, {stride_C});"))


def _gemv(letter: str, c_type: str) -> Intrinsic:
    return Intrinsic(
        name=f"cblas_{letter}gemv", isa=ISA, cost=COST, section="level 2, GEMV", library=True, operands=_memory("YAX"),
        semantics=f"""
void cblas_{letter}gemv(int M, int K, {c_type} Y[M], const {c_type} A[M][K], const {c_type} X[K],
                        {c_type} alpha, {c_type} beta) {{
    for (int m = 0; m < M; m++)
        Y[m] = beta * Y[m];
    for (int m = 0; m < M; m++)
        for (int k = 0; k < K; k++)
            Y[m] += alpha * A[m][k] * X[k];
}}""",
        template=(f"cblas_{letter}gemv(CblasRowMajor, {{transpose_A}}, {{rows_A}}, {{columns_A}}, {{alpha}}, {{A}}, "
                  "{stride_A}, {X}, {step_X}, {beta}, {Y}, {step_Y});"))


def _batched(letter: str, c_type: str) -> Intrinsic:
    return Intrinsic(
        name=f"cblas_{letter}gemm_batch_strided", isa=ISA, cost=COST, section="gemm_batch_strided", library=True,
        operands=_memory("CAB"),
        semantics=f"""
void cblas_{letter}gemm_batch_strided(int P, int M, int N, int K, {c_type} C[P][M][N], const {c_type} A[P][M][K],
                                      const {c_type} B[P][K][N], {c_type} alpha, {c_type} beta) {{
    for (int p = 0; p < P; p++)
        for (int m = 0; m < M; m++)
            for (int n = 0; n < N; n++)
                C[p][m][n] = beta * C[p][m][n];
    for (int p = 0; p < P; p++)
        for (int m = 0; m < M; m++)
            for (int n = 0; n < N; n++)
                for (int k = 0; k < K; k++)
                    C[p][m][n] += alpha * A[p][m][k] * B[p][k][n];
}}""",
        template=(f"cblas_{letter}gemm_batch_strided(CblasRowMajor, {{transpose_A}}, {{transpose_B}}, "
                  "{M}, {N}, {K}, {alpha}, {A}, {stride_A}, {batch_A}, {B}, {stride_B}, {batch_B}, {beta}, "
                  "{C}, {stride_C}, {batch_C}, {P});"))


CBLAS_SGEMM, CBLAS_DGEMM = _gemm("s", "float"), _gemm("d", "double")
CBLAS_SGEMV, CBLAS_DGEMV = _gemv("s", "float"), _gemv("d", "double")
CBLAS_SGEMM_BATCH, CBLAS_DGEMM_BATCH = _batched("s", "float"), _batched("d", "double")

ALL = (CBLAS_SGEMM, CBLAS_DGEMM, CBLAS_SGEMV, CBLAS_DGEMV, CBLAS_SGEMM_BATCH, CBLAS_DGEMM_BATCH)
