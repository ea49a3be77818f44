/* Rows of bytes in blocks of 32, whose last part is left out. */
void blocks_of_bytes(int n, int d, int *restrict out, const signed char *restrict x, const signed char *restrict w) {
  int i, j, k;
#pragma scop
  for (i = 0; i < d; i++) {
    int total = 0;
    for (j = 0; j <= n - 32; j += 32)
      for (k = 0; k < 32; k++)
        total += x[j + k] * w[i * n + j + k];
    out[i] = total;
  }
#pragma endscop
}
