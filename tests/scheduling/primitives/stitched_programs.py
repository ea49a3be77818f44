"""C programs of several stages that one loop over tiles can hold."""

LAYER_NORM = """
#include <math.h>
void layer_norm(int n, int m, float x[n][m], float g[m], float b[m], float y[n][m]) {
#pragma scop
  float mean[n], var[n];
  for (int i = 0; i < n; i++) {
    mean[i] = 0.0f;
    for (int j = 0; j < m; j++)
      mean[i] += x[i][j];
  }
  for (int i = 0; i < n; i++) {
    var[i] = 0.0f;
    for (int j = 0; j < m; j++)
      var[i] += (x[i][j] - mean[i] / m) * (x[i][j] - mean[i] / m);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i][j] = (x[i][j] - mean[i] / m) / sqrtf(var[i] / m + 1e-5f) * g[j] + b[j];
#pragma endscop
}
"""
BLUR = """
void blur(int n, int m, float x[n][m], float y[n][m]) {
#pragma scop
  float t[n][m];
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m - 1; j++)
      t[i][j] = (x[i][j - 1] + x[i][j] + x[i][j + 1]) / 3.0f;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      y[i][j] = (t[i - 1][j] + t[i][j] + t[i + 1][j]) / 3.0f;
#pragma endscop
}
"""
SOFTMAX = """
#include <math.h>
void softmax(int n, int m, float x[n][m], float y[n][m]) {
#pragma scop
  float top[n], sum[n], e[n][m];
  for (int i = 0; i < n; i++) {
    top[i] = x[i][0];
    for (int j = 1; j < m; j++)
      top[i] = x[i][j] > top[i] ? x[i][j] : top[i];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      e[i][j] = expf(x[i][j] - top[i]);
  for (int i = 0; i < n; i++) {
    sum[i] = 0.0f;
    for (int j = 0; j < m; j++)
      sum[i] += e[i][j];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i][j] = e[i][j] / sum[i];
#pragma endscop
}
"""
TWO = """
void two_layers(int n, int k, int m, int o, float x[n][k], float w[k][m], float v[m][o], float y[n][o]) {
#pragma scop
  float h[n][m];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      h[i][j] = 0.0f;
      for (int p = 0; p < k; p++)
        h[i][j] += x[i][p] * w[p][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      h[i][j] = h[i][j] > 0.0f ? h[i][j] : 0.0f;
  for (int i = 0; i < n; i++)
    for (int q = 0; q < o; q++) {
      y[i][q] = 0.0f;
      for (int j = 0; j < m; j++)
        y[i][q] += h[i][j] * v[j][q];
    }
#pragma endscop
}
"""
ATTENTION = """
#include <math.h>
void attention(int n, int d, float q[n][d], float k[n][d], float v[n][d], float y[n][d]) {
#pragma scop
  float s[n][n], top[n], sum[n], o[n][d];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      s[i][j] = 0.0f;
      for (int p = 0; p < d; p++)
        s[i][j] += q[i][p] * k[j][p];
    }
  for (int i = 0; i < n; i++) {
    top[i] = s[i][0];
    for (int j = 1; j < n; j++)
      top[i] = s[i][j] > top[i] ? s[i][j] : top[i];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      s[i][j] = expf(s[i][j] - top[i]);
  for (int i = 0; i < n; i++) {
    sum[i] = 0.0f;
    for (int j = 0; j < n; j++)
      sum[i] += s[i][j];
  }
  for (int i = 0; i < n; i++)
    for (int p = 0; p < d; p++) {
      o[i][p] = 0.0f;
      for (int j = 0; j < n; j++)
        o[i][p] += s[i][j] * v[j][p];
    }
  for (int i = 0; i < n; i++)
    for (int p = 0; p < d; p++)
      y[i][p] = o[i][p] / sum[i];
#pragma endscop
}
"""
