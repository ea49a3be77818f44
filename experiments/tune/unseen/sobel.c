/* Squared gradient of an image by Sobel's operators, the two of them in arrays of their own. */
void sobel(int h, int w, float G[h][w], float X[h][w], float Y[h][w], float I[h][w])
{
#pragma scop
  for (int i = 1; i < h - 1; i++)
    for (int j = 1; j < w - 1; j++)
      X[i][j] = I[i - 1][j + 1] - I[i - 1][j - 1] + 2 * I[i][j + 1] - 2 * I[i][j - 1] + I[i + 1][j + 1] - I[i + 1][j - 1];
  for (int i = 1; i < h - 1; i++)
    for (int j = 1; j < w - 1; j++)
      Y[i][j] = I[i + 1][j - 1] - I[i - 1][j - 1] + 2 * I[i + 1][j] - 2 * I[i - 1][j] + I[i + 1][j + 1] - I[i - 1][j + 1];
  for (int i = 1; i < h - 1; i++)
    for (int j = 1; j < w - 1; j++)
      G[i][j] = X[i][j] * X[i][j] + Y[i][j] * Y[i][j];
#pragma endscop
}
