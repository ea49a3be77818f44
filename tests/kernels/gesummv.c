/* Sum of two matrix-vector products.
 *
 *     y = alpha A x + beta B x,   A and B are m x n
 */
void gesummv(int m, int n, double alpha, double beta, double A[m][n], double B[m][n], double x[n], double y[m])
{
    double ax, bx;
#pragma scop
    for (int i = 0; i < m; i++) {
        ax = bx = 0.0;
        for (int j = 0; j < n; j++) {
            ax += A[i][j] * x[j];
            bx += B[i][j] * x[j];
        }
        y[i] = alpha * ax + beta * bx;
    }
#pragma endscop
}
