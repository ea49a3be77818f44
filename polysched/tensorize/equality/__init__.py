"""Whether two bodies compute the same function, whatever words they use."""

from polysched.tensorize.equality.ladder import Outcome, Verdict, same_function

__all__ = ["Outcome", "Verdict", "same_function"]
