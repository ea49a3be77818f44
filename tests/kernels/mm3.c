/* Product of four matrices as a balanced tree.
 *
 *     E = A B,   F = C D,   G = E F
 */
#define ZERO_THEN_ADD(R, X, Y, rows, cols, depth)      \
    for (int i = 0; i < (rows); i++)                   \
        for (int j = 0; j < (cols); j++) {             \
            R[i][j] = 0.0;                             \
            for (int p = 0; p < (depth); p++)          \
                R[i][j] += X[i][p] * Y[p][j];          \
        }

void mm3(int m, int n, int k, int l, int q, double A[m][k], double B[k][l], double C[l][q], double D[q][n],
         double E[m][l], double F[l][n], double G[m][n])
{
#pragma scop
    ZERO_THEN_ADD(E, A, B, m, l, k)
    ZERO_THEN_ADD(F, C, D, l, n, q)
    ZERO_THEN_ADD(G, E, F, m, n, l)
#pragma endscop
}
