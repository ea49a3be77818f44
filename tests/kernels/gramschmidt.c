#include <math.h>

/* QR factors by the modified Gram-Schmidt process.
 *
 *     A = Q R,   Q'Q = 1,   R upper triangular;   A has n + 2 rows and n columns and is used up
 */
#define ROWS (n + 2)

void gramschmidt(int n, double A[n + 2][n], double Q[n + 2][n], double R[n][n])
{
    double norm;
#pragma scop
    for (int k = 0; k < n; k++) {
        norm = 0.0;
        for (int i = 0; i < ROWS; i++)
            norm += A[i][k] * A[i][k];
        R[k][k] = sqrt(norm);
        for (int i = 0; i < ROWS; i++)
            Q[i][k] = A[i][k] / R[k][k];
        for (int j = k + 1; j < n; j++) {
            R[k][j] = 0.0;
            for (int i = 0; i < ROWS; i++)
                R[k][j] += Q[i][k] * A[i][j];
            for (int i = 0; i < ROWS; i++)
                A[i][j] -= Q[i][k] * R[k][j];
        }
    }
#pragma endscop
}
