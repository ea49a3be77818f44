"""Functions of math.h on vectors: our own code in GCC's vector extensions, without headers or a library."""

from polysched.emit_c.vector_math.functions import VectorMath, has_vector_function, is_approximated

__all__ = ["VectorMath", "has_vector_function", "is_approximated"]
