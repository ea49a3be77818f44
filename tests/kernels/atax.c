/* The normal operator of a matrix applied to a vector.
 *
 *     y = A' (A x),   A is m x n
 */
void atax(int m, int n, double A[m][n], double x[n], double y[n], double ax[m])
{
#pragma scop
    for (int j = 0; j < n; j++)
        y[j] = 0;
    for (int i = 0; i < m; i++) {
        ax[i] = 0.0;
        for (int j = 0; j < n; j++)
            ax[i] = ax[i] + A[i][j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] = y[j] + A[i][j] * ax[i];
    }
#pragma endscop
}
