"""Five programs over the types of an accelerator: `IN` of what the cube multiplies, `SUM` of what it adds up."""

from __future__ import annotations

from collections.abc import Mapping

TYPES = {"davinci": {"IN": "_Float16", "SUM": "float", "READ": "(float)", "ZERO": "0.0f", "SCALE": "0.125f"},
         "gemmini": {"IN": "int8_t", "SUM": "int32_t", "READ": "", "ZERO": "0", "SCALE": "0.0001f"}}

MATMUL = ("SUM C[M][N], const IN A[M][K], const IN B[K][N]", """\
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = ZERO;
      for (int k = 0; k < K; k++)
        C[i][j] += READ A[i][k] * READ B[k][j];
    }""")
CHAIN = ("SUM D[M][L], const IN A[M][K], const IN B[K][N], const IN C[N][L]", """\
  SUM T[M][N];
  IN H[M][N];
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      T[i][j] = ZERO;
      for (int k = 0; k < K; k++)
        T[i][j] += READ A[i][k] * READ B[k][j];
      H[i][j] = (IN)(T[i][j] / 64);
    }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < L; j++) {
      D[i][j] = ZERO;
      for (int k = 0; k < N; k++)
        D[i][j] += READ H[i][k] * READ C[k][j];
    }""")
CONV = ("SUM Y[K][P][P], const IN X[C][P + R - 1][P + R - 1], const IN W[K][C][R][R], const SUM b[K]", """\
  for (int k = 0; k < K; k++)
    for (int p = 0; p < P; p++)
      for (int q = 0; q < P; q++) {
        Y[k][p][q] = ZERO;
        for (int c = 0; c < C; c++)
          for (int r = 0; r < R; r++)
            for (int s = 0; s < R; s++)
              Y[k][p][q] += READ W[k][c][r][s] * READ X[c][p + r][q + s];
        Y[k][p][q] = Y[k][p][q] + b[k] > ZERO ? Y[k][p][q] + b[k] : ZERO;
      }""")
ATTENTION = ("SUM O[M][D], const IN Q[M][D], const IN K[N][D], const IN V[N][D]", """\
  SUM S[M][N];
  float E[M][N], m[M], l[M];
  IN W[M][N];
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      S[i][j] = ZERO;
      for (int d = 0; d < D; d++)
        S[i][j] += READ Q[i][d] * READ K[j][d];
    }
  for (int i = 0; i < M; i++) {
    m[i] = SCALE * S[i][0];
    for (int j = 1; j < N; j++)
      m[i] = SCALE * S[i][j] > m[i] ? SCALE * S[i][j] : m[i];
    l[i] = 0.0f;
    for (int j = 0; j < N; j++) {
      E[i][j] = expf(SCALE * S[i][j] - m[i]);
      l[i] += E[i][j];
    }
    for (int j = 0; j < N; j++)
      W[i][j] = (IN)(100.0f * E[i][j] / l[i]);
  }
  for (int i = 0; i < M; i++)
    for (int d = 0; d < D; d++) {
      O[i][d] = ZERO;
      for (int j = 0; j < N; j++)
        O[i][d] += READ W[i][j] * READ V[j][d];
    }""")
NORM = ("float Y[M][N], const float X[M][N], const float g[N], const float b[N]", """\
  float m[M], v[M];
  for (int i = 0; i < M; i++) {
    m[i] = 0.0f;
    for (int j = 0; j < N; j++)
      m[i] += X[i][j];
    m[i] = m[i] / N;
    v[i] = 0.0f;
    for (int j = 0; j < N; j++)
      v[i] += (X[i][j] - m[i]) * (X[i][j] - m[i]);
    v[i] = 1.0f / sqrtf(v[i] / N + 1e-5f);
    for (int j = 0; j < N; j++)
      Y[i][j] = (X[i][j] - m[i]) * v[i] * g[j] + b[j];
  }""")
PROGRAMS = {"matmul": MATMUL, "chain": CHAIN, "conv": CONV, "attention": ATTENTION, "norm": NORM}


def text(program: str, target: str, shape: Mapping[str, int]) -> str:
    """A C file with one region, whose sizes are constants."""
    arguments, body = PROGRAMS[program]
    defines = "".join(f"#define SIZE_{name} {value}\n" for name, value in shape.items())
    whole = f"void {program}({arguments}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    words = {**TYPES[target], **{name: f"SIZE_{name}" for name in shape}}
    return f"#include <math.h>\n#include <stdint.h>\n{defines}{_with(whole, words)}"


def _with(whole: str, words: Mapping[str, str]) -> str:
    """The text with whole words replaced; arrays of the same letter stand in front of a bracket alone."""
    import re
    pattern = re.compile(r"\b(" + "|".join(words) + r")\b(?!\[)")
    return pattern.sub(lambda found: words[found[1]], whole)
