"""Times Numba's code for a sum with one addend or another: seconds as JSON.  Needs Numba and NumPy alone."""

import importlib
import json
import sys
import time

import conditional_sum


def main(size: int, rounds: int) -> None:
    branches = importlib.import_module("numba").njit(conditional_sum.branches)
    arguments = conditional_sum.arguments(size)
    branches(*arguments)
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        branches(*arguments)
        taken.append(time.perf_counter() - start)
    print(json.dumps({"seconds": taken, "result": float(arguments[-1][0])}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
