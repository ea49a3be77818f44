/* Explicit heat equation in three dimensions, two steps per iteration through a second grid.
 *
 *     b = a + (1/8) (D_i + D_j + D_k) a,   D the second difference along one axis;   then back into a
 */
#define D2(below, here, above) ((above) - 2.0 * (here) + (below))
#define STEP(to, from)                                                                 \
    for (int i = 1; i < n - 1; i++)                                                    \
        for (int j = 1; j < n - 1; j++)                                                \
            for (int k = 1; k < n - 1; k++)                                            \
                to[i][j][k] = from[i][j][k]                                            \
                    + 0.125 * D2(from[i - 1][j][k], from[i][j][k], from[i + 1][j][k])  \
                    + 0.125 * D2(from[i][j - 1][k], from[i][j][k], from[i][j + 1][k])  \
                    + 0.125 * D2(from[i][j][k - 1], from[i][j][k], from[i][j][k + 1]);

void heat_3d(int steps, int n, double a[n][n][n], double b[n][n][n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        STEP(b, a)
        STEP(a, b)
    }
#pragma endscop
}
