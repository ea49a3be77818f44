"""One right answer to every exercise of the tutorial, by the variable that it is assigned to.

There are others: `check` judges what an answer does, and never compares it with this file.
"""

from polysched.scheduling.primitives import Interchange, Privatize, Skew

# 1_iterations: rows of 1, 2, 3, 4 and 5 points; the inner loop includes j = i.
instances = 15
count = lambda n: n * (n + 1) // 2
domain = "[n] -> { S0[i, j] : 0 <= i < n and 0 <= j <= i }"
cut = "[n] -> { S0[i, j] : 0 <= i < n and i mod 2 = 0 and j >= 0 and i + j < n }"
pyramid_instances = 20
pyramid_count = lambda n: n * (n + 1) * (n + 2) // 6

# 2_dependences: S0[i] reads a[i + 1], which S0[i + 1] overwrites; the last instance is n - 2.
written = "{ S0[i, j] -> b[j, i + j] }"
kinds = {"flow", "anti"}
anti = "[n] -> { S0[i] -> S0[i + 1] : 1 <= i and i + 1 <= n - 2 }"
distances = {(0, 1), (1, -1)}
witness = "S0[0, 3] -> S0[1, 2]"
shared = {"flow", "anti", "output"}

# 3_schedules: i + j is the same along an arrow, so it may decide first, and i second.
interchange = False
broken = "S0[1, 5] -> S0[2, 4]"
illegal = "{ S0[i, j] -> [-i, j] }"
wave = "{ S0[i, j] -> [i + j, i] }"
before = Skew(loop="j", by="i", factor=1)
factor = 3

# 4_tiles: distances (0, 1), (1, 0) and (1, -1); the corners of the star's tile are not touched: 16 + 4 * 4.
squares = False
skew = 1
footprint = 32
cube = 13
edges = (8, 8, 8)

# 5_parallel: a[i][j - 1] is in the same row.
carrying = {"j"}
race = "S0[2, 1] -> S0[2, 2]"
lanes = Interchange(outer="i", inner="j")
reductions = {"S0", "S2"}
expanded = """
void scalar(int n, double a[restrict n], double b[restrict n]) {
#pragma scop
  double t[n];
  for (int i = 0; i < n; i++) {
    t[i] = a[i] * a[i];
    b[i] = t[i] + 1.0;
  }
#pragma endscop
}
"""
private = Privatize(array="t", loop="i")

# 6_instructions: 3 * 2 * 3 blocks of 4 x 4 x 4, and 16 * 32 updates in blocks of 16.
executions = 18
transposed = """
#include <stdint.h>
void product(int C[restrict 10][8], int8_t A[restrict 10][12], int8_t B[restrict 8][12]) {
#pragma scop
  for (int x = 0; x < 10; x++)
    for (int y = 0; y < 8; y++)
      for (int z = 0; z < 12; z++)
        C[x][y] += A[x][z] * B[y][z];
#pragma endscop
}
"""
unit = """
void unit(int32_t C[4], const int8_t A[4][4], const int8_t B[4]) {
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            C[i] += A[i][k] * B[k];
}"""
blend = """
#include <stdint.h>
void blend(uint8_t o[restrict 64], uint8_t a[restrict 64], uint8_t b[restrict 64]) {
#pragma scop
  for (int i = 0; i < 64; i++)
    o[i] = (a[i] | b[i]) - ((a[i] ^ b[i]) >> 1);
#pragma endscop
}
"""
