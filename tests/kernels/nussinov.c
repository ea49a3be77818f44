/* Largest number of nested base pairs of an RNA strand (Nussinov).
 *
 *     t_ij = max(t_(i+1)j, t_i(j-1), t_(i+1)(j-1) + pairs(i, j), max_{i<k<j} t_ik + t_(k+1)j)
 *
 * Bases are numbered modulo 4 so that complementary ones add up to 3; neighbours do not pair.
 */
#define LARGER(a, b) (((a) > (b)) ? (a) : (b))
#define PAIRS(a, b) ((((a) & 3) + ((b) & 3)) == 3 ? 1 : 0)

void nussinov(int n, int base[n], int t[n][n])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) {
            t[i][j] = LARGER(t[i][j], t[i][j - 1]);
            t[i][j] = LARGER(t[i][j], t[i + 1][j]);
            if (j > i + 1)
                t[i][j] = LARGER(t[i][j], t[i + 1][j - 1] + PAIRS(base[i], base[j]));
            else
                t[i][j] = LARGER(t[i][j], t[i + 1][j - 1]);
            for (int k = i + 1; k < j; k++)
                t[i][j] = LARGER(t[i][j], t[i][k] + t[k + 1][j]);
        }
#pragma endscop
}
