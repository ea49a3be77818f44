for (long j = 0; j < n; j++) {
  if (j > 0) {
    double A_held = A[j][j];
    for (long k = 0; k < j; k++)
      A_held -= A[j][k] * A[j][k];
    A[j][j] = A_held;
  }
  A[j][j] = sqrt(A[j][j]);
  #pragma omp parallel for if(n - j - 1 >= 128)
  for (long i = j + 1; i < n; i++) {
    if (j > 0) {
      double A_held = A[i][j];
      for (long k = 0; k < j; k++)
        A_held -= A[i][k] * A[j][k];
      A[i][j] = A_held;
    }
    A[i][j] /= A[j][j];
  }
}
