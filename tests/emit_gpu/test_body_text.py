"""The loops of a work item as text."""

from __future__ import annotations

from tests.emit_gpu.emitted import emitted
from tests.emit_gpu.test_kernel_loops import TEMPORARY
from tests.gpu.mapped import STENCIL


def test_a_temporary_is_declared_where_it_lives() -> None:
    lines = [line.strip() for line in emitted(TEMPORARY).program.splitlines()]
    declared = next(line for line in lines if line.startswith("double s"))
    assert declared.endswith("[3];")
    assert lines[lines.index(declared) + 1].startswith("for (")


def test_statements_keep_their_conversions() -> None:
    assert "b[x] = (a[x - 1] + a[x] + a[x + 1]) / 3;" in emitted(STENCIL).program
