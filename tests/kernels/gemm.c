/* General matrix product in single precision.
 *
 *     C <- alpha A B + beta C,   A is m x k, B is k x n, C is m x n
 */
void gemm(int m, int n, int k, float alpha, float beta, float C[m][n], float A[m][k], float B[k][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] *= beta;
            for (int p = 0; p < k; p++)
                C[i][j] += alpha * A[i][p] * B[p][j];
        }
#pragma endscop
}
