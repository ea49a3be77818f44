#include <math.h>

/* Pearson correlation of m variables observed n times.
 *
 *     sd_j     = sqrt((1/n) sum_i (x_ij - mean_j)^2),  1 where that is almost 0
 *     corr_jk  = sum_i z_ij z_ik,   z_ij = (x_ij - mean_j) / (sqrt(n) sd_j)
 *
 * The observations are standardised in place; the diagonal is 1 by definition.
 */
#define SQUARE(v) ((v) * (v))
#define TINY 0.001

void correlation(int n, int m, double x[n][m], double corr[m][m], double mean[m], double sd[m])
{
    int i, j, k;
#pragma scop
    for (j = 0; j < m; ++j) {
        mean[j] = 0.0;
        for (i = 0; i < n; ++i)
            mean[j] += x[i][j];
        mean[j] = mean[j] / (double)n;
    }
    for (j = 0; j < m; ++j) {
        sd[j] = 0.0;
        for (i = 0; i < n; ++i)
            sd[j] += SQUARE(x[i][j] - mean[j]);
        sd[j] = sqrt(sd[j] / (double)n);
        sd[j] = sd[j] < TINY ? 1.0 : sd[j];
    }
    for (i = 0; i < n; ++i)
        for (j = 0; j < m; ++j)
            x[i][j] = (x[i][j] - mean[j]) / (sqrt((double)n) * sd[j]);
    for (j = 0; j < m; ++j) {
        corr[j][j] = 1.0;
        for (k = 0; k < j; ++k) {
            corr[j][k] = 0.0;
            for (i = 0; i < n; ++i)
                corr[j][k] += x[i][j] * x[i][k];
            corr[k][j] = corr[j][k];
        }
    }
#pragma endscop
}
