/* Two matrix products in a row.
 *
 *     T = alpha A B,   D <- T C + beta D,   A is m x k, B is k x l, C is l x n
 */
void mm2(int m, int n, int k, int l, double alpha, double beta, double A[m][k], double B[k][l], double C[l][n],
         double D[m][n], double T[m][l])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < l; j++) {
            T[i][j] = 0.0;
            for (int p = 0; p < k; p++)
                T[i][j] += alpha * A[i][p] * B[p][j];
        }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            D[i][j] *= beta;
            for (int p = 0; p < l; p++)
                D[i][j] += T[i][p] * C[p][j];
        }
#pragma endscop
}
