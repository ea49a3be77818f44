/* Product with an upper triangular matrix, in place.
 *
 *     B_ij <- alpha sum_{k >= i} A_ik B_kj
 *
 * Row i needs the old rows k > i, so rows are finished from the top.
 */
void trmm(int m, int n, double alpha, double A[m][m], double B[m][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            B[i][j] *= A[i][i];
            for (int k = i + 1; k < m; k++)
                B[i][j] += A[i][k] * B[k][j];
            B[i][j] = alpha * B[i][j];
        }
#pragma endscop
}
