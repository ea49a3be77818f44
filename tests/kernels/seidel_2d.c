/* Gauss-Seidel sweeps of the nine-point mean, in place.
 *
 *     a_ij <- (sum of a over the 3 x 3 neighbourhood of (i, j)) / 9,   in row order
 */
#define ROW(r) (a[r][j - 1] + a[r][j] + a[r][j + 1])

void seidel_2d(int sweeps, int n, double a[n][n])
{
#pragma scop
    for (int t = 0; t < sweeps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = (ROW(i - 1) + ROW(i) + ROW(i + 1)) / 9.0;
#pragma endscop
}
