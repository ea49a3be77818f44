/* Symmetric rank-2k update of the lower triangle.
 *
 *     C_ij <- beta C_ij + alpha sum_k (A_ik B_jk + B_ik A_jk),   0 <= j <= i < n
 */
void syr2k(int n, int m, double alpha, double beta, double C[n][n], double A[n][m], double B[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (int k = 0; k < m; k++)
            for (int j = 0; j <= i; j++)
                C[i][j] += alpha * (A[i][k] * B[j][k] + B[i][k] * A[j][k]);
    }
#pragma endscop
}
