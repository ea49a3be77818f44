"""Lower bounds on data movement as formulas, beside the published ones and a simulated cache; see README.md.

    python experiments/reproduced/io_bounds/run.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from polysched.dependence import analyse
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.claims import Claim
from polysched.experiment.tables import markdown_table
from polysched.measure.programs.cache_simulation import simulate
from polysched.scheduling import pluto
from polysched.scop import from_c_file, from_c_text
from polysched.target.target import CacheLevel, Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.footprints.bound_formula import bound_formula

KERNELS = Path(__file__).parents[3] / "tests" / "kernels"
HEADINGS = ("kernel", "bound", "IOLB", "ours / IOLB", "SOAP", "bound, elements", "tiled, elements")
# the point at which formulas are compared: sizes large beside S
SIZE, FAST = 10**7, 10**4
# the least ratio of a bound to the published one that counts as equal; the formulas are compared as numbers
EQUAL = 0.999
CACHE_ELEMENTS, ELEMENT_BYTES = 1024, 8
CONVOLUTION = """
void conv(int c, int h, int w, int o, double X[c][h + 2][w + 2], double W[o][c][3][3], double Y[o][h][w]) {
#pragma scop
    for (int b = 0; b < o; b++)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++)
                for (int a = 0; a < c; a++)
                    for (int u = 0; u < 3; u++)
                        for (int v = 0; v < 3; v++)
                            Y[b][i][j] += W[b][a][u][v] * X[a][i + u][j + v];
#pragma endscop
}
"""


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={}) for name in (*settings.config["published"], "convolution")]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """The formula; where sizes are given, its value and the elements that a tiled order moves."""
    scop = from_c_text(CONVOLUTION) if case.name == "convolution" else from_c_file(KERNELS / f"{case.name}.c")
    dependences = analyse(scop)
    found = bound_formula(dependences)
    values: dict[str, Any] = {"compulsory": str(found.compulsory), "reuse": str(found.reuse),
                              "leading": str(found.leading)}
    if (sizes := settings.config["simulated"].get(case.name)) is not None:
        report("simulating")
        caches = (CacheLevel(level=1, size_bytes=CACHE_ELEMENTS * ELEMENT_BYTES, ways=8),)
        target = replace(Target(vector_bits=0), caches=caches)
        named = {p.name: sizes[p.spelling] for p in scop.parameters}
        tiled = tile(pluto(dependences), TilingOptions(target=target, parameters=named, register=None))
        moved = simulate(tiled, named, caches).levels[0].bytes_without_sets / ELEMENT_BYTES
        values |= {"moved": round(moved), "least": _value(str(found.reuse), sizes, CACHE_ELEMENTS)}
    return values


def _value(formula: str, sizes: dict[str, int], fast: int) -> float:
    import sympy
    read = sympy.sympify(formula, locals={name: sympy.Symbol(name) for name in (*sizes, "S")})
    return float(read.subs({s: fast if s.name == "S" else sizes[s.name] for s in read.free_symbols}))


def _large(formula: str) -> float:
    import re
    return _value(formula, dict.fromkeys(set(re.findall(r"[a-z]\w*", formula)) - {"sqrt"}, SIZE), FAST)


def compared(records: Sequence[Record], published: dict[str, list[str]]) -> Iterator[tuple[Record, float | None]]:
    """Every kernel with our bound over IOLB's, at sizes that are large beside S."""
    for record in records:
        if record.done:
            theirs = published.get(record.case)
            yield record, _large(record.values["leading"]) / _large(theirs[0]) if theirs else None


def published() -> dict[str, list[str]]:
    import tomllib
    return tomllib.loads((Path(__file__).parent / "experiment.toml").read_text())["published"]


def table(records: Sequence[Record]) -> str:
    theirs = published()
    rows = []
    for record, ratio in compared(records, theirs):
        values, (iolb, soap) = record.values, theirs.get(record.case, ("", ""))
        rows.append([record.case, values["leading"], iolb or "-", "-" if ratio is None else f"{ratio:.2f}",
                     soap or "-", f"{values['least']:.0f}" if "least" in values else "-",
                     str(values.get("moved", "-"))])
    return "\n".join([markdown_table(HEADINGS, rows), "", verdict(records) or "reproduced"])


def verdict(records: Sequence[Record]) -> str:
    """The criterion of README.md."""
    below = [r.case for r, ratio in compared(records, published()) if ratio is not None and ratio < EQUAL]
    broken = [r.case for r in records if r.done and r.values.get("moved", 0) < r.values.get("least", 0)]
    told = [f"the bounds of {', '.join(below)} are below the published ones"] if below else []
    told += [f"the tiled orders of {', '.join(broken)} move less than the bound"] if broken else []
    return f"not reproduced: {'; '.join(told)}" if told else ""


def claims(records: Sequence[Record]) -> list[Claim]:
    """How many formulas are the published ones, or larger."""
    ratios = [ratio for _, ratio in compared(records, published()) if ratio is not None]
    found = sum(ratio >= EQUAL for ratio in ratios)
    return [Claim(what="kernels whose bound is IOLB's or larger", ours=found, published=len(ratios), asked="all",
                  holds=found == len(ratios), digits=0,
                  source="`prevBounds` of SOAP's tool (spcl/dace, dace/transformation/estimator/soap/utils.py)")]


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, claims=claims)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
