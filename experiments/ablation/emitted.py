"""Is the C that two checkouts emit for one program the same, byte for byte?

    python experiments/ablation/emitted.py OLD NEW --keep DIR [--polybench-root DIR] [--new-options OPTION ...]
                                           [--only NAME ...]

Transforms the kernels of `tests/kernels` of this checkout, and those of PolyBench/C, by `polysched c2c` of both
checkouts with its defaults.  `--keep` holds the C; what is there is not made again.  Prints one line per program:
`same`, `same but for ...` with the changes of layout that account for all of it (`LAYOUT`), or how many lines differ.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"


def programs(suite: Path | None) -> Iterator[tuple[str, Path, list[str]]]:
    """Name, file, and options of the preprocessor: the kernels of the tests, then those of the suite."""
    for path in sorted(KERNELS.glob("*.c")):
        yield path.stem, path, []
    if suite is not None:
        for line in (suite / "utilities" / "benchmark_list").read_text().split():
            path = suite / line
            yield f"polybench {path.stem}", path, ["-I", str(suite / "utilities"), "-I", str(path.parent)]


def emitted(checkout: Path, source: Path, options: Sequence[str], output: Path) -> str:
    """The C that a checkout emits; the last line of its message where it refuses."""
    if not output.exists():
        output.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "polysched", "c2c", source, "-o", output, *options]
        done = subprocess.run(command, check=False, cwd=checkout, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(checkout)})
        if done.returncode != 0:
            return f"refused: {(done.stderr.strip().splitlines() or [''])[-1]}"
    return output.read_text()


def without_team_tests(text: str) -> str:
    """A loop with its copy without threads behind a test -> the loop with an `if` clause."""
    lines, found, at = text.splitlines(), [], 0
    while at < len(lines):
        test = re.fullmatch(r"( *)if \((.*)\) \{", lines[at])
        if test is None or "#pragma omp parallel" not in "".join(lines[at + 1:at + 2]):
            found.append(lines[at])
            at += 1
            continue
        closing = next(n for n in range(at, len(lines)) if lines[n].startswith(test[1] + "}"))
        loop = [line.removeprefix("  ") for line in lines[at + 1:closing]]
        found += [f"{loop[0]} if({test[2]})", *loop[1:]]
        at = closing + 1
        if lines[closing].endswith("else {"):
            at = 1 + next(n for n in range(at, len(lines)) if lines[n] == test[1] + "}")
    return "\n".join(found) + "\n"


def without_uses(text: str) -> str:
    """Without the lines `(void)i;`, which keep compilers from warning of variables that nothing uses any more."""
    return re.sub(r"(?m)^ *\(void\)\w+;\n", "", text)


LAYOUT: dict[str, Callable[[str], str]] = {
    "tests of teams": without_team_tests,   # `if (n >= 2) { parallel loop } else { loop }`, which had an `if` clause
    "unused variables": without_uses,
}


def difference(old: str, new: str) -> str:
    """`same`, which changes of layout account for all of it, or how many lines went and came."""
    if old == new:
        return "same"
    left, right, seen = old, new, []
    for name, plain in LAYOUT.items():
        left, changed = plain(left), plain(right)
        if changed != right:
            seen.append(name)
        right = changed
    if left == right:
        return f"same but for {' and '.join(seen)}"
    lines = list(difflib.unified_diff(left.splitlines(), right.splitlines(), n=0, lineterm=""))[2:]
    apart = f"{sum(x.startswith('-') for x in lines)} lines went, {sum(x.startswith('+') for x in lines)} came"
    return ", beside ".join([apart, " and ".join(seen)] if seen else [apart])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--keep", type=Path, required=True, help="folder for the C, in `old` and `new`")
    parser.add_argument("--polybench-root", type=Path)
    parser.add_argument("--new-options", nargs="+", default=[], metavar="OPTION",
                        help="of NEW's c2c alone, without their dashes: no-portable")
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns of names")
    given = parser.parse_args()
    keep = given.keep.resolve()
    print("| program | C |\n|---|---|")
    for name, path, options in programs(given.polybench_root and given.polybench_root.resolve()):
        if any(fnmatch(name, pattern) for pattern in given.only):
            file = f"{name.replace(' ', '_')}.c"
            more = [f"--{option}" for option in given.new_options]
            texts = [emitted(given.old.resolve(), path, options, keep / "old" / file),
                     emitted(given.new.resolve(), path, [*options, *more], keep / "new" / file)]
            print(f"| {name} | {difference(*texts)} |", flush=True)


if __name__ == "__main__":
    main()
