/* Scores of all alignments of two sequences (Needleman, Wunsch) whose matches are given as a matrix. */
void alignment(int n, int m, int gap, int H[n + 1][m + 1], int S[n][m])
{
#pragma scop
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) {
      int best = H[i - 1][j - 1] + S[i - 1][j - 1];
      int up = H[i - 1][j] - gap;
      int left = H[i][j - 1] - gap;
      best = up > best ? up : best;
      H[i][j] = left > best ? left : best;
    }
#pragma endscop
}
