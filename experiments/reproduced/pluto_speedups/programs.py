"""Pluto's kernels that `tests/kernels` has otherwise: the stencil with its copy, and the products in doubles."""

PROGRAMS = {
    "jacobi_1d_imper": """
void jacobi_1d_imper(int steps, int n, double a[n], double b[n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 2; i < n - 1; i++)
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
        for (int j = 2; j < n - 1; j++)
            a[j] = b[j];
    }
#pragma endscop
}
""",
    "mvt": """
void mvt(int n, double x1[n], double x2[n], double y1[n], double y2[n], double A[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x1[i] += A[i][j] * y1[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x2[i] += A[j][i] * y2[j];
#pragma endscop
}
""",
}
