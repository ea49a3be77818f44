/* Maxwell's equations in two dimensions on Yee's staggered grid, with a source on the first row.
 *
 *     ey_0j = src_t,   ey -= (hz_ij - hz_(i-1)j)/2,   ex -= (hz_ij - hz_i(j-1))/2,
 *     hz_ij -= 0.7 (ex_i(j+1) - ex_ij + ey_(i+1)j - ey_ij)
 */
void fdtd_2d(int steps, int nx, int ny, double ex[nx][ny], double ey[nx][ny], double hz[nx][ny], double src[steps])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int j = 0; j < ny; j++)
            ey[0][j] = src[t];
        for (int i = 1; i < nx; i++)
            for (int j = 0; j < ny; j++)
                ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
        for (int i = 0; i < nx; i++)
            for (int j = 1; j < ny; j++)
                ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
        for (int i = 0; i < nx - 1; i++)
            for (int j = 0; j < ny - 1; j++)
                hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
#pragma endscop
}
