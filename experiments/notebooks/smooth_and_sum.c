void smooth_and_sum(int n, double a[n][n], double b[n][n], double sum[n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            b[i][j] = 0.5 * (b[i - 1][j] + b[i][j - 1]) + a[i][j];
    for (int i = 1; i < n; i++)
        for (int j = 1; j <= i; j++)
            sum[i] += b[i][j];
#pragma endscop
}
