/* Heat equation on the unit square by alternating directions (Peaceman and Rachford).
 *
 *     (1 - a dxx) v = (1 + b dyy) u,    (1 - b dyy) u = (1 + a dxx) v,     dxx, dyy second differences
 *
 * Each half step solves one tridiagonal system per line by Thomas's algorithm: with c the off-diagonal
 * and d the diagonal, p and q carry the elimination forward and the solution comes back.  The boundary is 1.
 */
void adi(int n, int steps, double u[n][n], double v[n][n], double p[n][n], double q[n][n])
{
    double dx, dt, a, b, ca, da, cb, db;
#pragma scop
    dx = 1.0 / (double)n;
    dt = 1.0 / (double)(steps + 1);
    a = dt / (dx * dx);
    b = 0.5 * a;
    ca = -a / 2.0;
    da = 1.0 + a;
    cb = -b / 2.0;
    db = 1.0 + b;
    for (int t = 1; t <= steps; t++) {
        for (int i = 1; i < n - 1; i++) {
            v[0][i] = 1.0;
            p[i][0] = 0.0;
            q[i][0] = v[0][i];
            for (int j = 1; j < n - 1; j++) {
                p[i][j] = -ca / (ca * p[i][j - 1] + da);
                q[i][j] = (-cb * u[j][i - 1] + (1.0 + 2.0 * cb) * u[j][i] - cb * u[j][i + 1] - ca * q[i][j - 1])
                          / (ca * p[i][j - 1] + da);
            }
            v[n - 1][i] = 1.0;
            for (int j = n - 2; j >= 1; j--)
                v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
        }
        for (int i = 1; i < n - 1; i++) {
            u[i][0] = 1.0;
            p[i][0] = 0.0;
            q[i][0] = u[i][0];
            for (int j = 1; j < n - 1; j++) {
                p[i][j] = -cb / (cb * p[i][j - 1] + db);
                q[i][j] = (-ca * v[i - 1][j] + (1.0 + 2.0 * ca) * v[i][j] - ca * v[i + 1][j] - cb * q[i][j - 1])
                          / (cb * p[i][j - 1] + db);
            }
            u[i][n - 1] = 1.0;
            for (int j = n - 2; j >= 1; j--)
                u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
        }
    }
#pragma endscop
}
