"""MLIR's own tool, under whatever name it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest


def mlir_opt() -> str | None:
    """`mlir-opt`, or the newest `mlir-opt-19` and the like; None where there is none."""
    versions = {int(found[1]): str(path) for folder in os.get_exec_path() if Path(folder).is_dir()
                for path in Path(folder).iterdir() if (found := re.fullmatch(r"mlir-opt-(\d+)", path.name))}
    return shutil.which("mlir-opt") or (versions[max(versions)] if versions else None)


needs_mlir = pytest.mark.skipif(mlir_opt() is None, reason="no mlir-opt is installed (apt: mlir-19-tools)")


def through_mlir(text: str, *options: str) -> str:
    """What `mlir-opt` makes of a text, which it verifies."""
    tool = mlir_opt()
    assert tool is not None
    done = subprocess.run([tool, *options], input=text, text=True, check=False, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout
