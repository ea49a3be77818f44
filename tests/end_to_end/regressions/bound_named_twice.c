/* Vector loops inside register tiles: the new name of a bound hid the one that its own value names. */
void product(int n, int m, int P[n + 1][n + 1][m + 1], short Q[m + 1][n + 1], short R[m + 1][n + 1][m + 1])
{
    int i, j, k, l;
#pragma scop
    for (k = 0; k <= m - 1; k++)
        for (i = 0; i <= n - 1; i++)
            for (l = 0; l <= n - 1; l++)
                for (j = 0; j <= m - 1; j++)
                    P[l][i][k] += Q[j][i] * R[j][l][k];
#pragma endscop
}
