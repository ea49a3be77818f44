"""Commands in a fork of a loaded process, as most tests run them, do what they do in a new interpreter."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.command import PRODUCT, is_refusal, polysched


@pytest.mark.parametrize("command", [
    ("c2c", "in.c", "--size", "n=64"), ("deps", "in.c"), ("extract", "in.c"), ("schedule", "in.c"), ("tile", "in.c"),
    ("match", "in.c", "--intrinsic", "fma_f64_avx2"), ("c2c", "missing.c"), ("no-such-command",)], ids=" ".join)
def test_a_new_interpreter_prints_the_same(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    new, forked = (polysched(*command, "--quiet", folder=tmp_path, from_nothing=from_nothing)  # without progress
                   for from_nothing in (True, False))
    times = re.compile(r"[\d.]+ m?s\b")
    assert times.sub("", new.stdout) == times.sub("", forked.stdout)
    assert (new.returncode, new.stderr) == (forked.returncode, forked.stderr)
    assert new.stdout or is_refusal(new) or new.returncode == 2


def test_environment_and_time_limit(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("c2c", "in.c", "-o", "out.c", folder=tmp_path, environment={"PATH": "", "CC": "no-such-cc"})
    assert is_refusal(done)
    with pytest.raises(subprocess.TimeoutExpired):
        polysched("c2c", "in.c", folder=tmp_path, timeout=0)
    assert polysched("--version", folder=tmp_path).stdout
