/* Red-black relaxation: the points of one colour of a chessboard, then those of the other.
 *
 *     a_ij <- (a_(i-1)j + a_(i+1)j + a_i(j-1) + a_i(j+1)) / 4   for i + j odd, then for i + j even
 */
#define RELAX(i, j) (a[i][j] = 0.25 * (a[(i) - 1][j] + a[(i) + 1][j] + a[i][(j) - 1] + a[i][(j) + 1]))

void red_black(int sweeps, int n, double a[n][n])
{
#pragma scop
    for (int t = 0; t < sweeps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1 + i % 2; j < n - 1; j += 2)
                RELAX(i, j);
        for (int i = 1; i < n - 1; i++)
            for (int j = 2 - i % 2; j < n - 1; j += 2)
                RELAX(i, j);
    }
#pragma endscop
}
