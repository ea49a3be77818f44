/* Two strided loops, the inner one's offset depending on the outer one, in tiles that are no multiples of the strides:
 * isl's code generator took the inner point loop for a single iteration (2 x 3 tiles, n = 8, m = 6). */
void strided_tiles(int n, int m, double C[n + 2][m + 1])
{
#pragma scop
    for (int i = 0; i <= m - 3; i += 3)
        for (int k = i + 1; k <= n - 3; k += 2)
            C[k - 1][i] = 0.5 * C[1][i];
#pragma endscop
}
