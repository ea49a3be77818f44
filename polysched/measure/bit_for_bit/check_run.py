"""The child process that runs original statements and their replacements on the same data and compares every element.

Started by `measure.processes.isolation.run_isolated` as
`python -m polysched.measure.bit_for_bit.check_run REQUEST REPORTS`;
the request is made by `bit_for_bit.check`.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from polysched.measure.bit_for_bit.corner_values import WAYS, fill
from polysched.measure.processes.child_side import Reporter, serve
from polysched.measure.programs.inputs import FLOATS, GuardedArray, NDArray, allocate, as_numbers

TOLERANCE = {"float16": 2e-2, "bfloat16": 6e-2, "float32": 1e-4, "float64": 1e-9, "longdouble": 1e-12}


class Check:
    """One check of a request: two functions, and the memory that both work on in turn."""

    def __init__(self, item: dict[str, Any], original: ctypes.CDLL, replaced: ctypes.CDLL) -> None:
        self.item = item
        self.skipped = ctypes.c_int.in_dll(replaced, f"skipped_{item['entry']}")
        self.functions = {"original": getattr(original, f"original_{item['entry']}"),
                          "prepare": getattr(replaced, f"prepare_{item['entry']}"),
                          "replaced": getattr(replaced, f"replaced_{item['entry']}")}
        self.arrays: list[GuardedArray] = [allocate(a["dtype"], tuple(a["shape"])) for a in item["arrays"]]
        self.pristine = [np.empty_like(a.values) for a in self.arrays]

    def fill(self, trial: int) -> str:
        """New values for all arrays; which kinds they are, in words."""
        kinds = []
        for position, (array, described) in enumerate(zip(self.pristine, self.item["arrays"], strict=True)):
            way = WAYS[trial if trial < len(WAYS) else (trial + position * (trial - len(WAYS) + 1)) % len(WAYS)]
            fill(array, described["dtype"], name=described["name"], values=described["values"], most=described["most"],
                 way=way, seed=trial)
            kinds.append(f"{described['name']} {way}")
        return ", ".join(kinds)

    def run(self, which: str) -> list[NDArray]:
        """What one of the functions leaves in the arrays."""
        self.restore()
        for step in ("prepare", which) if which == "replaced" else (which,):
            self.functions[step](*self.passed())
        return [a.values.copy() for a in self.arrays]

    def restore(self) -> None:
        """Put the values of the last `fill` into the arrays."""
        for guarded, values in zip(self.arrays, self.pristine, strict=True):
            np.copyto(guarded.values, values)

    def passed(self) -> list[Any]:
        """The arguments of every function."""
        return [*(ctypes.c_long(p) for p in self.item["parameters"]),
                *(ctypes.c_void_p(a.values.ctypes.data) for a in self.arrays)]

    def stray(self) -> str:
        """The array beside which something was written; "" for none."""
        broken = [d["name"] for d, a in zip(self.item["arrays"], self.arrays, strict=True) if not a.guards_intact()]
        return broken[0] if broken else ""


def differing(left: NDArray, right: NDArray, dtype: str, equality: str) -> NDArray:
    """A mask of the elements that are not equal as a check demands; one NaN is as good as another, and an infinity
    equals itself only."""
    if dtype not in FLOATS:
        return np.asarray(left != right)
    a, b = as_numbers(left, dtype), as_numbers(right, dtype)
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        if equality == "bit for bit":
            same &= (np.signbit(a) == np.signbit(b)) | np.isnan(a)
        elif equality == "up to rounding":
            wide = np.longdouble
            finite = np.abs(a[np.isfinite(a)].astype(wide))
            scale = np.maximum(np.abs(a.astype(wide)), finite.mean() if finite.size else 0)
            near = np.abs(a.astype(wide) - b.astype(wide)) <= TOLERANCE[dtype] * scale
            same |= near & np.isfinite(a) & np.isfinite(b)
    return np.asarray(~same)


def inside(boxes: list[list[list[int]]], shape: tuple[int, ...]) -> NDArray:
    """A mask of the elements of some boxes."""
    mask = np.zeros(shape, np.bool_)
    for box in boxes:
        mask[tuple(slice(low, high + 1) for low, high in box)] = True
    return mask


def shown(array: NDArray, index: tuple[int, ...], dtype: str) -> str:
    """One element in words: a float with all its digits."""
    value = as_numbers(array, dtype)[index]
    return repr(float(value)) if dtype in FLOATS else str(int(value))


def first_difference(check: Check, expected: list[NDArray], found: list[NDArray]) -> dict[str, Any] | None:
    """The first element that differs, and how many do; of a sampled check only those that the original changed, of
    arrays with boxes only those inside."""
    item = check.item
    for described, left, right, before in zip(item["arrays"], expected, found, check.pristine, strict=True):
        if not described["compared"]:
            continue
        mask = differing(left, right, described["dtype"], item["equality"])
        if item["sampled"]:
            mask &= differing(left, before, described["dtype"], "bit for bit")
        if described["boxes"]:
            mask &= inside(described["boxes"], mask.shape)
        if mask.any():
            index = tuple(int(i) for i in np.argwhere(mask)[0])
            return {"array": described["name"], "index": index, "expected": shown(left, index, described["dtype"]),
                    "found": shown(right, index, described["dtype"]), "count": int(mask.sum()), "of": int(mask.size)}
    return None


def judge(check: Check, reporter: Reporter) -> bool:
    """Run both functions on several data; report the first difference; whether there was none."""
    item = check.item
    for trial in range(item["trials"]):
        data = check.fill(trial)
        results = {}
        for which, what in (("original", "the original"), ("replaced", f"the code with {item['instruction']}")):
            reporter.phase(f"running {what} at {item['sizes']}")
            results[which] = check.run(which)
            if beside := check.stray():
                reporter.report(stray={"array": beside, "which": which, "sizes": item["sizes"]})
                return False
        if check.skipped.value:
            reporter.report(skipped=item["sizes"])
            return True
        different = first_difference(check, results["original"], results["replaced"])
        if different is not None:
            reporter.report(difference=different | {"sizes": item["sizes"], "data": data})
            return False
    reporter.report(equal=item["sizes"] + (" (some elements)" if item["sampled"] else ""))
    return True


def check(request: dict[str, Any], reporter: Reporter) -> None:
    """Run every check until one finds a difference."""
    reporter.phase("loading the compiled code")
    original, replaced = ctypes.CDLL(request["original"]), ctypes.CDLL(request["replaced"])
    for item in request["checks"]:
        if not judge(Check(item, original, replaced), reporter):
            break


if __name__ == "__main__":
    serve(check, sys.argv)
