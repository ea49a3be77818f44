"""The list of instructions: complete, in order, and read only when somebody asks for one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from polysched.tensorize import INTRINSICS
from polysched.tensorize.intrinsics.shipped import shipped, shipped_texts


def test_every_instruction_has_a_name_of_its_own() -> None:
    assert list(INTRINSICS) == [i.name for i in shipped()]
    assert len(INTRINSICS) == len(shipped()) == len(set(INTRINSICS))
    assert all(INTRINSICS[i.name] is i and i.semantics in shipped_texts() for i in shipped())
    assert repr(INTRINSICS) == f"{len(shipped())} instructions"
    with pytest.raises(KeyError):
        INTRINSICS["no such instruction"]


def test_texts_are_read_when_somebody_asks() -> None:
    program = ("import sys, polysched.pipeline, polysched.tensorize\n"
               "name = 'polysched.tensorize.intrinsics.avx2'\n"
               "assert name not in sys.modules\n"
               "assert 'vpmaddwd' in polysched.tensorize.INTRINSICS\n"
               "assert name in sys.modules\n")
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
