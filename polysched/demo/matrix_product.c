/* Matrix product: C <- C + A B, in double precision. */
void matrix_product(int n, double C[n][n], double A[n][n], double B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
