/* Symmetric rank-k update of the upper triangle.
 *
 *     C_ij <- beta C_ij + alpha sum_k A_ik A_jk,   0 <= i <= j < n
 */
void syrk(int n, int m, double alpha, double beta, double C[n][n], double A[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            C[i][j] = beta * C[i][j];
    for (int k = 0; k < m; k++)
        for (int i = 0; i < n; i++)
            for (int j = i; j < n; j++)
                C[i][j] = C[i][j] + alpha * A[i][k] * A[j][k];
#pragma endscop
}
