/* A matrix by a vector, without threads of its own (after llama2.c's run.c). */
void rows_of_floats(int n, int d, float *restrict out, const float *restrict x, const float *restrict w) {
  int i, j;
#pragma scop
  for (i = 0; i < d; i++) {
    float val = 0.0f;
    for (j = 0; j < n; j++)
      val += w[i * n + j] * x[j];
    out[i] = val;
  }
#pragma endscop
}
