/* Five-point averaging of the interior of a grid; the grids swap roles with the parity of the step.
 *
 *     b_ij = (a_ij + a_i(j-1) + a_i(j+1) + a_(i-1)j + a_(i+1)j) / 5,   then a from b
 */
void jacobi_2d(int steps, int m, int n, double a[m][n], double b[m][n])
{
    int t, i, j;
#pragma scop
    for (t = 1; t <= steps; t++) {
        for (i = 1; i <= m - 2; i++)
            for (j = 1; j <= n - 2; j++)
                b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]);
        for (i = 1; i <= m - 2; i++)
            for (j = 1; j <= n - 2; j++)
                a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i - 1][j] + b[i + 1][j]);
    }
#pragma endscop
}
