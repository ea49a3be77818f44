/* Smooth a picture downwards, then add up the lower triangle's columns. */
void blur_columns(int n, double a[n][n], double b[n][n], double sum[n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i][j] = 0.5 * (b[i - 1][j] + a[i][j]);
    for (int j = 1; j < n; j++)
        for (int i = j; i < n; i++)
            sum[j] += b[i][j];
#pragma endscop
}
