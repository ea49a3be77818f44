/* LU factors without pivoting, in place; the diagonal of L is 1 and not stored.
 *
 *     A_ik <- A_ik / A_kk,   A_ij <- A_ij - A_ik A_kj   for i, j > k, k = 0, 1, ...
 */
void lu(int n, double A[n][n])
{
#pragma scop
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            A[i][k] /= A[k][k];
            for (int j = k + 1; j < n; j++)
                A[i][j] -= A[i][k] * A[k][j];
        }
#pragma endscop
}
