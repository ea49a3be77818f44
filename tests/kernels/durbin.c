/* Durbin's recursion for the Yule-Walker equations.
 *
 *     T y = -r,   T_ij = r_(|i-j|-1) for i /= j,  T_ii = d = 2n
 *
 * Step k extends the solution of order k by one element: with e the remaining error,
 *     a = -(r_k + sum_{i<k} r_(k-1-i) y_i) / e,   y_i <- y_i + a y_(k-1-i),   y_k = a,   e <- (1 - a^2) e.
 */
void durbin(int n, double r[n], double y[n], double z[n])
{
    double a, e, sum;
#pragma scop
    y[0] = a = -r[0] / (double)(2 * n);
    e = (1.0 - a * a) * (2 * n);
    for (int k = 1; k < n; k++) {
        sum = r[k];
        for (int i = 0; i < k; i++)
            sum += r[k - 1 - i] * y[i];
        a = -sum / e;
        for (int i = 0; i < k; i++)
            z[i] = y[i] + a * y[k - 1 - i];
        for (int i = 0; i < k; i++)
            y[i] = z[i];
        y[k] = a;
        e *= 1.0 - a * a;
    }
#pragma endscop
}
