"""`TensorType`: element type and shape of a value of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.values.element_types import ELEMENT_TYPES, array_type, element_type
from polysched.graph.values.sizes import Size, SizeLike, product
from polysched.records import dataclass
from polysched.scop.dtypes import LONGDOUBLE, DType


@dataclass(frozen=True)
class TensorType:
    """Element type and shape.

    Parameters
    ----------
    dtype : the element type.
    shape : an extent per dimension; none for a scalar.
    """

    dtype: DType
    shape: tuple[Size, ...]

    def __post_init__(self) -> None:
        if self.dtype == LONGDOUBLE:
            raise UnsupportedGraphError(f"elements of type {self.dtype} are not had", hint="convert to float64")

    @staticmethod
    def of(dtype: DType, shape: Sequence[SizeLike]) -> TensorType:
        """A type with whole numbers among the extents."""
        return TensorType(dtype, tuple(Size.of(e) for e in shape))

    @staticmethod
    def of_array(array: np.ndarray) -> TensorType:
        """The type of a NumPy array."""
        dtype = element_type(array.dtype)
        if dtype is None:
            raise UnsupportedGraphError(f"elements of type {array.dtype} are not had",
                                        hint=f"element types are {', '.join(sorted(ELEMENT_TYPES))}")
        return TensorType.of(dtype, array.shape)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def elements(self) -> Size:
        """The number of elements."""
        return product(self.shape)

    @property
    def bytes(self) -> int:
        """The bytes of the elements; their number is known."""
        return int(self.elements) * self.dtype.bytes

    @property
    def is_static(self) -> bool:
        """Whether every extent is known."""
        return all(e.is_constant for e in self.shape)

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents as numbers.

        Raises
        ------
        UnsupportedGraphError : one of them is a symbol.
        """
        return tuple(int(e) for e in self.shape)

    @property
    def numpy(self) -> np.dtype:
        """NumPy's element type, or ml_dtypes'."""
        return array_type(self.dtype)

    def with_shape(self, shape: Sequence[SizeLike]) -> TensorType:
        """The same elements in another shape."""
        return TensorType.of(self.dtype, shape)

    def with_dtype(self, dtype: DType) -> TensorType:
        """The same shape with other elements."""
        return TensorType(dtype, self.shape)

    def bound(self, sizes: Mapping[str, SizeLike]) -> TensorType:
        """The type with values in place of symbols."""
        return TensorType(self.dtype, tuple(e.bound(sizes) for e in self.shape))

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"
