"""The C that a file has once."""

from polysched.emit_gpu.opencl_runtime import RUNTIME


def test_it_may_stand_in_a_file_twice() -> None:
    assert RUNTIME.startswith("#ifndef POLYSCHED_OPENCL\n")
    assert RUNTIME.endswith("#endif\n")


def test_every_call_with_a_status_is_checked() -> None:
    calls = [line for line in RUNTIME.splitlines() if "&status)" in line]
    checks = RUNTIME.count("polysched_device_check(status, ")
    assert len(calls) == 5
    assert checks >= len(calls)
