#include <math.h>

/* Cholesky factor of a symmetric positive definite matrix, in place in the lower triangle.
 *
 *     L_jj = sqrt(A_jj - sum_{k<j} L_jk^2),   L_ij = (A_ij - sum_{k<j} L_ik L_jk) / L_jj  for i > j
 *
 * Column by column (left looking).
 */
void cholesky(int n, double A[n][n])
{
#pragma scop
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            A[j][j] -= A[j][k] * A[j][k];
        A[j][j] = sqrt(A[j][j]);
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
    }
#pragma endscop
}
