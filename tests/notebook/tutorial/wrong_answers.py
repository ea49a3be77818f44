"""A wrong answer to every exercise of the tutorial: each a mistake that a reader might make."""

from polysched.scheduling.primitives import Privatize, Reverse

# 1_iterations
instances = 10                                                          # without the diagonal
count = lambda n: n * n // 2  # noqa: E731
domain = "[n] -> { S0[i, j] : 0 <= i < n and 0 <= j < i }"
cut = "[n] -> { S0[i, j] : 0 <= i < n and j >= 0 and i + j < n }"         # without the step
pyramid_instances = 10
pyramid_count = lambda n: n * (n + 1) // 2  # noqa: E731

# 2_dependences
written = "{ S0[i, j] -> b[i, i + j] }"
kinds = {"flow"}
anti = "[n] -> { S0[i] -> S0[i + 1] : 1 <= i < n - 1 }"                  # one pair too many
distances = {(0, 1), (-1, 1)}                                            # the first minus the second
witness = "S0[1, 2] -> S0[0, 3]"
shared = {"flow"}

# 3_schedules
interchange = True
broken = "S0[2, 4] -> S0[1, 5]"
illegal = "{ S0[i, j] -> [i, -j] }"
wave = "{ S0[i, j] -> [j, i] }"
before = Reverse(loop="i")
factor = 2

# 4_tiles
squares = True
skew = 0
footprint = 36
cube = 14
edges = (60, 60, 60)

# 5_parallel
carrying = {"i", "j"}
race = "S0[2, 1] -> S0[3, 1]"
lanes = ()
reductions = {"S0", "S1", "S2"}
expanded = """
void scalar(int n, double a[restrict n], double b[restrict n]) {
#pragma scop
  double t[n];
  for (int i = 0; i < n; i++) {
    t[0] = a[i] * a[i];
    b[i] = t[0] + 1.0;
  }
#pragma endscop
}
"""
private = Privatize(array="a", loop="i")

# 6_instructions
executions = 15                                                          # 960 updates by 64
transposed = """
#include <stdint.h>
void product(int C[restrict 10][8], int8_t A[restrict 10][12], int8_t B[restrict 8][12]) {
#pragma scop
  for (int x = 0; x < 10; x++)
    for (int y = 0; y < 8; y++)
      for (int z = 0; z < 12; z++)
        C[x][y] -= A[x][z] * B[y][z];
#pragma endscop
}
"""
unit = """
void unit(int32_t C[5], const int8_t A[5][3], const int8_t B[3]) {
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++)
            C[i] += A[i][k] * B[k];
}"""
blend = """
#include <stdint.h>
void blend(uint8_t o[restrict 64], uint8_t a[restrict 64], uint8_t b[restrict 64]) {
#pragma scop
  for (int i = 0; i < 64; i++)
    o[i] = (a[i] + b[i] + 1) >> 1;
#pragma endscop
}
"""
