/* Smoothing of a byte image with a border rule.
 *
 *     out_ij = (4 in_ij + its four neighbours) / 8   inside,   in_ij on the border
 *     mark_ij counts, modulo 256, the corners and the points of the two central lines
 */
void smooth_border(int h, int w, unsigned char in[h][w], unsigned char out[h][w], unsigned char mark[h][w])
{
#pragma scop
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            if (i > 0 && i < h - 1 && j > 0 && j < w - 1)
                out[i][j] = (4 * in[i][j] + in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1]) / 8;
            else
                out[i][j] = in[i][j];
            if ((i == 0 || i == h - 1) && (j == 0 || j == w - 1))
                mark[i][j] += 255;
            if (2 * i == h - 1 || 2 * j == w - 1)
                mark[i][j] += 100;
        }
#pragma endscop
}
