"""Times Numba's code for a sum with one addend or another: seconds as JSON.  Needs Numba and NumPy alone."""

import json
import sys
import time

import numba
import numpy as np


@numba.njit
def branches(c, x, y, out):
    s = 0.0
    for i in range(x.shape[0]):
        if c[i] > 0.5:
            s += x[i]
        else:
            s += y[i]
    out[0] = s


def main(size: int, rounds: int) -> None:
    made = np.random.default_rng(0)
    arguments = (*(made.random(size) for _ in range(3)), np.zeros(1))
    branches(*arguments)
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        branches(*arguments)
        taken.append(time.perf_counter() - start)
    print(json.dumps({"seconds": taken, "result": float(arguments[-1][0])}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
