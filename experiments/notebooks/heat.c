void heat(int steps, int n, double a[2][n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            a[(t + 1) % 2][i] = 0.33 * (a[t % 2][i - 1] + a[t % 2][i] + a[t % 2][i + 1]);
#pragma endscop
}
