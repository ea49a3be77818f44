"""The limits when another code of a call is taken, and how many codes are kept.

What a machine takes for something stands in `polysched.target.costs`.
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class KernelLimits:
    """By the module that asks for them."""

    # c_function.py
    kept_shapes: int = constant(
        64, unit="shapes", source="of arguments that a function remembers with their sizes, as fitting; the oldest go")
    # choosing.py
    patience: int = constant(
        20, unit="1", source="how many times as long as the transformed code the Python function may take while it "
        "is watched, which slows it")
    shortest_watch_seconds: float = constant(
        0.001, unit="s", source="of the transformed code that the patience counts from: less is the cost of "
        "watching")
    # decorated.py
    kept_variants: int = constant(
        8, unit="variants", source="by fixed values and by sizes that a kernel keeps; the oldest goes")
    exact_sample: int = constant(
        16, unit="1", source="of a size of the first call for which code is chosen: windows and channels; longer ones "
        "count as the next power of two")
    # known_calls.py
    kept_calls: int = constant(
        64, unit="calls", source="by types, shapes and strides whose checks are remembered as passed; the oldest goes")


LIMITS = KernelLimits()
