void f(int n, int m, int P[m + 1][2 * n + 1], short Q[n + 1][m + 1][n + 1], short R[2 * m + 1])
{
    int i, j, k, l;
#pragma scop
    for (j = 0; j <= m - 1; j++) {
        for (k = 0; k <= n - 1; k++) {
            for (i = 0; i <= n - 1; i++) {
                for (l = 0; l <= m - 1; l++) {
                    P[l][i + k] += Q[k][j][i] * R[j + l];
                }
            }
        }
    }
#pragma endscop
}
