for (long j = 0; j < n; j++) {
  if (j > 0) {
    double A_held = A[j][j];
    for (long k = 0; k < j; k++)
      A_held -= A[j][k] * A[j][k];
    A[j][j] = A_held;
  }
  A[j][j] = sqrt(A[j][j]);
  if (n - j - 8 >= 128) {
    #pragma omp parallel for
    for (long i = j + 1; i < n - 7; i += 8) {
      {
        /* register tile of 8 */
        if (j > 0) {
          double A_0_0 = A[i][j];
          double A_1_0 = A[i + 1][j];
          double A_2_0 = A[i + 2][j];
          double A_3_0 = A[i + 3][j];
          double A_4_0 = A[i + 4][j];
          double A_5_0 = A[i + 5][j];
          double A_6_0 = A[i + 6][j];
          double A_7_0 = A[i + 7][j];
          for (long k = 0; k < j; k++) {
            A_0_0 -= A[i][k] * A[j][k];
            A_1_0 -= A[i + 1][k] * A[j][k];
            A_2_0 -= A[i + 2][k] * A[j][k];
            A_3_0 -= A[i + 3][k] * A[j][k];
            A_4_0 -= A[i + 4][k] * A[j][k];
            A_5_0 -= A[i + 5][k] * A[j][k];
            A_6_0 -= A[i + 6][k] * A[j][k];
            A_7_0 -= A[i + 7][k] * A[j][k];
          }
          A[i][j] = A_0_0;
          A[i + 1][j] = A_1_0;
          A[i + 2][j] = A_2_0;
          A[i + 3][j] = A_3_0;
          A[i + 4][j] = A_4_0;
          A[i + 5][j] = A_5_0;
          A[i + 6][j] = A_6_0;
          A[i + 7][j] = A_7_0;
        }
      }
      {
        A[i][j] /= A[j][j];
        A[i + 1][j] /= A[j][j];
        A[i + 2][j] /= A[j][j];
        A[i + 3][j] /= A[j][j];
        A[i + 4][j] /= A[j][j];
        A[i + 5][j] /= A[j][j];
        A[i + 6][j] /= A[j][j];
        A[i + 7][j] /= A[j][j];
      }
    }
  } else {
    for (long i = j + 1; i < n - 7; i += 8) {
      {
        /* register tile of 8 */
        if (j > 0) {
          double A_0_0 = A[i][j];
          double A_1_0 = A[i + 1][j];
          double A_2_0 = A[i + 2][j];
          double A_3_0 = A[i + 3][j];
          double A_4_0 = A[i + 4][j];
          double A_5_0 = A[i + 5][j];
          double A_6_0 = A[i + 6][j];
          double A_7_0 = A[i + 7][j];
          for (long k = 0; k < j; k++) {
            A_0_0 -= A[i][k] * A[j][k];
            A_1_0 -= A[i + 1][k] * A[j][k];
            A_2_0 -= A[i + 2][k] * A[j][k];
            A_3_0 -= A[i + 3][k] * A[j][k];
            A_4_0 -= A[i + 4][k] * A[j][k];
            A_5_0 -= A[i + 5][k] * A[j][k];
            A_6_0 -= A[i + 6][k] * A[j][k];
            A_7_0 -= A[i + 7][k] * A[j][k];
          }
          A[i][j] = A_0_0;
          A[i + 1][j] = A_1_0;
          A[i + 2][j] = A_2_0;
          A[i + 3][j] = A_3_0;
          A[i + 4][j] = A_4_0;
          A[i + 5][j] = A_5_0;
          A[i + 6][j] = A_6_0;
          A[i + 7][j] = A_7_0;
        }
      }
      {
        A[i][j] /= A[j][j];
        A[i + 1][j] /= A[j][j];
        A[i + 2][j] /= A[j][j];
        A[i + 3][j] /= A[j][j];
        A[i + 4][j] /= A[j][j];
        A[i + 5][j] /= A[j][j];
        A[i + 6][j] /= A[j][j];
        A[i + 7][j] /= A[j][j];
      }
    }
  }
  for (long i = n - (n - j - 1) % 8; i < n; i++) {
    if (j > 0) {
      double A_held = A[i][j];
      for (long k = 0; k < j; k++)
        A_held -= A[i][k] * A[j][k];
      A[i][j] = A_held;
    }
    A[i][j] /= A[j][j];
  }
}
