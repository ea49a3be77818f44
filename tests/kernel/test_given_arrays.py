"""Arrays of other libraries as arguments, through DLPack."""

import numpy as np
import pytest

import polysched
from polysched.emit_gpu.interface import CUDA as CUDA_TARGET
from polysched.errors import UsageError
from polysched.kernel.cuda_arrays import CUDA
from polysched.kernel.given_arrays import as_numpy
from polysched.scop.expression import compute, placeholder, symbols


class Producer:
    """An array of another library: nothing but the DLPack protocol."""

    def __init__(self, array: np.ndarray, device: int = 1, error: Exception | None = None) -> None:
        self.array, self.device, self.error = array, device, error

    def __dlpack__(self, **keywords: object) -> object:
        if self.error is not None:
            raise self.error
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


class OldProducer(Producer):
    """DLPack before 1.0, which cannot say that memory may be written; the library's own conversion can."""

    def __dlpack__(self, stream: object = None) -> object:
        return self.array.__dlpack__()

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return self.array


@polysched.kernel
def add(x, y):
    x += y


@pytest.mark.parametrize("make", [Producer, OldProducer])
def test_kernels_write_into_the_memory_of_other_libraries(make) -> None:
    x, y = np.arange(9.0), np.ones(9)
    add(make(x), make(y))
    np.testing.assert_array_equal(x, np.arange(9.0) + 1)


def test_strides_are_kept() -> None:
    memory = np.arange(18.0)
    add(Producer(memory[::2]), np.ones(9))
    np.testing.assert_array_equal(memory[::2], np.arange(0, 18.0, 2) + 1)
    np.testing.assert_array_equal(memory[1::2], np.arange(1, 18.0, 2))


def test_compiled_expressions_take_them() -> None:
    (n,) = symbols("n")
    A = placeholder("A", (n,), "float64")
    double = polysched.compile(compute((n,), lambda i: A[i] * 2, name="D"))
    np.testing.assert_array_equal(double(Producer(np.arange(5.0))), np.arange(5.0) * 2)


def test_memory_of_a_device_is_refused() -> None:
    with pytest.raises(UsageError, match=r"add: x is a .* Producer on the DLPack device 2, the kernel takes arrays in "
                                         "the CPU's memory"):
        add(Producer(np.ones(3), device=2), np.ones(3))


def test_what_a_library_does_not_export_is_refused() -> None:
    with pytest.raises(UsageError, match=r"add: y is a .* that NumPy cannot take by DLPack") as caught:
        add(np.ones(3), Producer(np.ones(3), error=BufferError("it requires grad")))
    assert "it requires grad" in str(caught.value)


def test_memory_that_must_not_be_written_is_refused() -> None:
    x = np.ones(3)
    x.flags.writeable = False
    with pytest.raises(UsageError, match="add: x is written, but the array is read-only"):
        add(Producer(x), np.ones(3))
    add(np.ones(3), Producer(x))


def test_arrays_of_other_libraries_overlap_as_numpys_do() -> None:
    memory = np.ones(9)
    with pytest.raises(polysched.kernel.SharedMemoryError):
        add(Producer(memory[1:]), Producer(memory[:-1]))


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(9, dtype=torch.float64)
    add(x, torch.ones(9, dtype=torch.float64))
    assert x.tolist() == [i + 1.0 for i in range(9)]
    with pytest.raises(UsageError, match="add: y is a torch Tensor"):
        add(x, torch.ones(9, dtype=torch.float64, requires_grad=True))


class Negated(Producer):
    """A view of torch with its negative bit set, which DLPack does not say."""

    def is_neg(self) -> bool:
        return True


class Nowhere(Producer):
    """A tensor of torch without data."""

    def __dlpack_device__(self) -> tuple[int, int]:
        raise ValueError("Unknown device type meta for Dlpack")


def test_what_memory_does_not_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="negatives of its elements"):
        add(np.zeros(3), Negated(np.ones(3)))
    with pytest.raises(UsageError, match="negatives of its elements"):
        as_numpy("add", {"y": Negated(np.ones(3), device=CUDA)}, CUDA_TARGET.name)
    with pytest.raises(UsageError, match="no device of DLPack"):
        add(np.zeros(3), Nowhere(np.ones(3)))


def test_arrays_of_jax_are_read() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    x = np.zeros(3)
    add(x, jax.numpy.arange(3.0))
    assert x.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(UsageError, match="read-only"):
        add(jax.numpy.arange(3.0), x)
