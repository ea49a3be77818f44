"""Results as LaTeX tables that a paper reads by `\\input`; they need the packages booktabs and graphicx.

A table that is wider than the line is made smaller; one with many variants is cut into several files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polysched.measure.timing.statistics import ratio_text
from polysched.report.entry import Entry, Provenance, Variant
from polysched.report.markdown import tables_of
from polysched.report.numbers import geometric_means, seconds_text, size_text
from polysched.report.reading import Results
from polysched.report.sections import sections

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "×": r"$\times$", "…": r"\dots{}", "→": r"$\rightarrow$"}

NEEDS = r"% made by polysched report; needs \usepackage{booktabs,graphicx}"
MOST_VARIANTS = 4
BEGIN = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"


def escaped(text: str) -> str:
    """Text as LaTeX prints it."""
    return "".join(SPECIAL.get(character, character) for character in text)


def latex_tables(results: Results) -> dict[str, str]:
    """Every table by the name of its file: one per experiment, `measurements`, and `provenance`.

    Of an experiment with many variants NAME has the first of them, `NAME-2` the next, and so on.
    """
    found = {"provenance": provenance_table([e.provenance for e in results.entries])}
    for section in sections(results):
        if section.timed:
            parts = enumerate(results_tables(section.timed), 1)
            found |= {section.anchor + (f"-{n}" if n > 1 else ""): table for n, table in parts}
        elif tables := plain_tables(section.own_table):
            found[section.anchor] = tables
    return found


def results_tables(entries: Sequence[Entry]) -> list[str]:
    """One row per kernel: the reference's time, and each variant's time and speed-up with its interval."""
    names = list(dict.fromkeys(v.name for e in entries for v in e.variants
                               if v.name != e.reference and not v.is_missing))
    return [_part(entries, names[at:at + MOST_VARIANTS]) for at in range(0, max(1, len(names)), MOST_VARIANTS)]


def _part(entries: Sequence[Entry], names: Sequence[str]) -> str:
    """The table of some variants; sizes, and what else the results of a kernel differ in, stand beside its name."""
    timed = [entry for entry in entries if entry.variants]
    texts = [text for text in (size_text, _differing) if any(text(entry) for entry in timed)]
    words = {size_text: "size", _differing: "differs in"}
    headings = ["kernel", *(words[text] for text in texts), "reference (s)",
                *(rf"\multicolumn{{2}}{{c}}{{{escaped(name)}}}" for name in names)]
    empty = [""] * (2 + len(texts))
    below = _row([*empty, *(word for _ in names for word in ("time (s)", "speed-up"))])
    rows = [below, r"\midrule",
            *(_row([escaped(entry.kernel), *(escaped(text(entry)) for text in texts), *_cells(entry, names)])
              for entry in timed)]
    means = [_row([title, *empty[1:], *_mean_cells(geometric_means(part), names)]) for title, part in _averaged(timed)]
    rows += [r"\midrule", *means] if means else []
    return _tabular("l" + "l" * len(texts) + "r" + "rl" * len(names), headings, rows)


def _mean_cells(means: Mapping[str, tuple[float, int]], names: Sequence[str]) -> list[str]:
    """Per variant no time, and the mean with the number of results."""
    return [cell for name in names
            for cell in ("", f"{ratio_text(means[name][0])} ({means[name][1]})" if name in means else "--")]


def _averaged(entries: Sequence[Entry]) -> list[tuple[str, Sequence[Entry]]]:
    """What means are quoted of: each kernel with several results, where there are several kernels, and all."""
    kernels: dict[str, list[Entry]] = {}
    for entry in entries:
        kernels.setdefault(entry.kernel, []).append(entry)
    several = [(f"geometric mean, {escaped(name)}", part) for name, part in kernels.items() if len(part) > 1]
    everything: list[tuple[str, Sequence[Entry]]] = [("geometric mean", entries)]
    return [part for part in [*(several if len(kernels) > 1 else []), *everything] if geometric_means(part[1])]


def _differing(entry: Entry) -> str:
    """In what results of one kernel differ beside their size: tiles, threads, compiler."""
    return "; ".join(part for part in entry.label.split("; ") if part and part != size_text(entry))


def _tabular(columns: str, headings: Sequence[str], rows: Sequence[str]) -> str:
    return "\n".join([NEEDS, BEGIN, rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _row(headings), *rows,
                      r"\bottomrule", r"\end{tabular}}", ""])


def plain_tables(markdown: str) -> str:
    """The tables of a Markdown text, as LaTeX; empty when there is none."""
    return "\\par\\medskip\n".join(_plain(rows[0], rows[1:]) for rows in tables_of(markdown))


def _plain(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return _tabular("l" + "r" * (len(headings) - 1), [*map(escaped, headings)],
                    [r"\midrule", *(_row([*map(escaped, row)]) for row in rows)])


def provenance_table(provenances: Sequence[Provenance]) -> str:
    """Machine, compiler and versions, one row per fact; facts that differ between results are listed."""
    facts: dict[str, list[str]] = {}
    for p in provenances:
        for name, value in (("machine", f"{p.machine.cpu}, {p.machine.cores} cores"), ("system", p.machine.system),
                            ("compiler", p.compiler), ("flags", p.flags), ("revision", p.git_revision),
                            ("libraries", ", ".join(f"{k} {v}" for k, v in p.libraries.items()))):
            if value and value not in facts.setdefault(name, []):
                facts[name].append(value)
    rows = [_row([name, rf"{{\raggedright {escaped('; '.join(values))}\par}}"]) for name, values in facts.items()
            if values]
    return "\n".join([NEEDS, r"\begin{tabular}{@{}lp{0.75\linewidth}@{}}", r"\toprule", *rows, r"\bottomrule",
                      r"\end{tabular}", ""])


def _cells(entry: Entry, names: Sequence[str]) -> list[str]:
    by_name = {v.name: v for v in entry.variants}
    reference = by_name.get(entry.reference)
    cells = ["--" if reference is None or reference.seconds is None else seconds_text(reference.seconds)]
    for name in names:
        cells += _times(by_name.get(name))
    return cells


def _times(variant: Variant | None) -> list[str]:
    if variant is None or variant.seconds is None or variant.speed_up is None:
        return ["--", "" if variant is None else escaped(variant.problem.partition(":")[0])]
    ends = variant.interval
    interval = f" [{ratio_text(ends.low)}, {ratio_text(ends.high)}]" if ends else ""
    return [seconds_text(variant.seconds), f"{ratio_text(variant.speed_up)}{interval}"]


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
