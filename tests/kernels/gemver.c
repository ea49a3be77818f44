/* Rank-two update of a matrix and two products with the result.
 *
 *     A <- A + u v' + s t',   x <- x + beta A' y + z,   w <- w + alpha A x
 */
void gemver(int n, double alpha, double beta, double A[n][n], double u[n], double v[n], double s[n], double t[n],
            double w[n], double x[n], double y[n], double z[n])
{
    int i, j;
#pragma scop
    for (i = 0; i <= n - 1; i++)
        for (j = 0; j <= n - 1; j++)
            A[i][j] = A[i][j] + u[i] * v[j] + s[i] * t[j];
    for (j = 0; j <= n - 1; j++) {
        for (i = 0; i <= n - 1; i++)
            x[j] += beta * A[i][j] * y[i];
        x[j] += z[j];
    }
    for (i = 0; i <= n - 1; i++)
        for (j = 0; j <= n - 1; j++)
            w[i] += alpha * A[i][j] * x[j];
#pragma endscop
}
