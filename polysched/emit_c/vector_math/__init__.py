"""Functions of math.h on vectors: our own code in GCC's vector extensions, without headers or a library."""

from polysched.emit_c.vector_math.functions import VectorMath, has_vector_function

__all__ = ["VectorMath", "has_vector_function"]
