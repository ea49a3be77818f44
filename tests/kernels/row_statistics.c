/* Rows of a matrix scaled to unit range, with local variables and a local array.
 *
 *     y_ij = (x_ij - lo_i) / (hi_i - lo_i + 1),   lo_i and hi_i the least and the largest element of row i
 *     total = sum of all y_ij,   count = number of elements as an integer
 */
void row_statistics(int m, int n, double x[m][n], double y[m][n], double total[1], long count[1])
{
#pragma scop
    double span[m];
    total[0] = 0.0;
    count[0] = 0;
    for (int i = 0; i < m; i++) {
        double lo = x[i][0], hi = x[i][0];
        for (int j = 1; j < n; j++) {
            lo = x[i][j] < lo ? x[i][j] : lo;
            hi = x[i][j] > hi ? x[i][j] : hi;
        }
        span[i] = hi - lo + 1.0;
        for (int j = 0; j < n; j++) {
            y[i][j] = (x[i][j] - lo) / span[i];
            total[0] += y[i][j];
            count[0]++;
        }
    }
#pragma endscop
}
