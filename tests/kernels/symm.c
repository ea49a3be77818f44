/* Product with a symmetric matrix of which only the lower triangle is stored.
 *
 *     C <- alpha S B + beta C,   S_ij = A_ij for j <= i,  S_ij = A_ji for j > i
 *
 * Row i of the triangle contributes to row i of C and, mirrored, to all rows above it.
 */
void symm(int m, int n, double alpha, double beta, double A[m][m], double B[m][n], double C[m][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = beta * C[i][j] + alpha * A[i][i] * B[i][j];
            for (int k = 0; k < i; k++) {
                C[i][j] += alpha * A[i][k] * B[k][j];
                C[k][j] += alpha * A[i][k] * B[i][j];
            }
        }
#pragma endscop
}
