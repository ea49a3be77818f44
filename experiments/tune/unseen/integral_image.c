/* Sums of all rectangles that begin in the first corner. */
void integral_image(int h, int w, double S[h][w], double I[h][w])
{
#pragma scop
  for (int i = 0; i < h; i++) {
    S[i][0] = I[i][0];
    for (int j = 1; j < w; j++)
      S[i][j] = S[i][j - 1] + I[i][j];
  }
  for (int i = 1; i < h; i++)
    for (int j = 0; j < w; j++)
      S[i][j] += S[i - 1][j];
#pragma endscop
}
