/* A quantised product in groups of GS, without threads of its own (after llama2.c's runq.c). */
void rows_of_bytes(int n, int d, int GS, float *out, const signed char *x, const signed char *w, const float *xs,
                   const float *ws) {
  int i;
  for (i = 0; i < d; i++) {
    float val = 0.0f;
    int ival = 0;
    int in = i * n;
    int j;
    for (j = 0; j <= n - GS; j += GS) {
      int k;
      for (k = 0; k < GS; k++)
        ival += x[j + k] * w[in + j + k];
      val += (float)ival * ws[(in + j) / GS] * xs[j / GS];
      ival = 0;
    }
    out[i] = val;
  }
}
