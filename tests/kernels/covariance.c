/* Sample covariance of m variables observed n times.
 *
 *     mean_j   = (1/n) sum_i x_ij
 *     cov_jk   = (1/(n-1)) sum_i (x_ij - mean_j) (x_ik - mean_k),   symmetric
 *
 * The observations are centred in place.
 */
void covariance(int n, int m, double x[n][m], double cov[m][m], double mean[m])
{
#pragma scop
    for (int j = 0; j < m; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < n; i++)
            mean[j] += x[i][j];
        mean[j] /= n;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[i][j] -= mean[j];
    for (int j = 0; j < m; j++)
        for (int k = j; k < m; k++) {
            cov[j][k] = 0.0;
            for (int i = 0; i < n; i++)
                cov[j][k] += x[i][j] * x[i][k];
            cov[j][k] = cov[k][j] = cov[j][k] / (n - 1.0);
        }
#pragma endscop
}
