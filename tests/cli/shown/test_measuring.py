"""The measuring options are those of the command line; what is not given is chosen for this machine."""

from __future__ import annotations

import argparse

from polysched.cli.entry import make_parser
from polysched.cli.shown.measuring import measure_options


def parsed(*words: str) -> argparse.Namespace:
    return make_parser().parse_args(["run", "gemm.c", *words])


def test_what_is_given_is_taken() -> None:
    made = measure_options(parsed("--threads", "3", "--cflags", "-O1 -g", "--memory", "100", "--timeout", "7",
                                  "--pairs", "5", "--pin", "--tolerance", "0.01"))
    assert made.threads == 3
    assert made.flags == ("-O1", "-g")
    assert made.limits.memory_bytes == 100 << 20
    assert made.limits.seconds == 7
    assert made.pairs == 5
    assert made.pin
    assert made.tolerance == 0.01


def test_the_default_leaves_memory_to_others() -> None:
    made = measure_options(parsed())
    assert made.flags, "the compiler optimises"
    assert made.limits.memory_bytes >= 64 << 20
    assert not made.pin
    assert made.tolerance is None, "that of each type"
