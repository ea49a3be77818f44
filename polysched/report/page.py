"""The HTML page of a report: what its template shows, prepared as plain values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polysched.measure.timing.statistics import ratio_text
from polysched.report.code import c_html, code_styles
from polysched.report.entry import Entry
from polysched.report.extras import required
from polysched.report.figures import plots, slug, svg_of
from polysched.report.markdown import markdown_html
from polysched.report.numbers import means_by_experiment, quantity, seconds_text, size_text
from polysched.report.reading import Results
from polysched.report.sections import Section, sections
from polysched.version import __version__

TEMPLATE = Path(__file__).with_name("page.html")
OPEN_LISTINGS = 2
MOST_COMMANDS = 6
MUCH_DISTURBED = 0.1


def page_html(results: Results, *, title: str) -> str:
    """The whole page.

    Raises
    ------
    UsageError : a package of the extra `report` is missing.
    """
    jinja2 = required("jinja2")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
                                     lstrip_blocks=True)
    safe = required("markupsafe").Markup
    for filter_ in (ratio_text, seconds_text, size_text, anchor):
        environment.filters[filter_.__name__] = filter_
    environment.filters["code"] = lambda text: safe(c_html(str(text)))
    environment.globals["quantity"] = quantity
    listed = [e for e in results.entries if e.listings]
    drawn = [{"caption": p.caption, "svg": safe(svg_of(p))} for p in plots(results.entries)]
    found: str = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        title=title, version=__version__, results=results, facts=facts(results), warnings=warnings(results),
        means=means_by_experiment(results.entries), plots=drawn, styles=safe(code_styles()), listed=listed,
        sections=[_marked(s, safe) for s in sections(results)], open_listings=len(listed) <= OPEN_LISTINGS,
        failed=[e for e in results.entries if e.problem])
    return found


def _marked(section: Section, safe: Any) -> dict[str, Any]:
    return {"section": section, "own_table": safe(markdown_html(section.own_table)), "own_plot": safe(section.own_plot)}


def facts(results: Results) -> list[tuple[str, list[str]]]:
    """The provenance: every fact with the values it has in the results."""
    found: dict[str, list[str]] = {}
    for p in (e.provenance for e in results.entries):
        machine = p.machine
        caches = ", ".join(f"{name} {size // 1024} KiB" for name, size in machine.caches.items())
        for name, value in (
                ("machine", f"{machine.cpu}, {machine.cores} cores, {machine.memory_bytes / 2**30:.1f} GiB"),
                ("extensions", ", ".join(machine.isa)), ("caches", caches), ("system", machine.system),
                ("governor", p.governor), ("compiler", p.compiler), ("flags", p.flags),
                ("git revision", p.git_revision), ("libraries", ", ".join(f"{k} {v}" for k, v in p.libraries.items()))):
            if value and value not in found.setdefault(name, []):
                found[name].append(value)
    commands = dict.fromkeys(e.provenance.command for e in results.entries)
    found["measured by"] = [*commands] if len(commands) <= MOST_COMMANDS else [
        f"{len(commands)} commands, from {min(commands)} to {max(commands)}"]
    started = sorted(e.provenance.started for e in results.entries)
    found["measured on"] = [started[0] if started[0] == started[-1] else f"{started[0]} to {started[-1]}"]
    loads = sorted(e.provenance.load for e in results.entries)
    found["load"] = [f"{loads[0]:.2f}" if loads[0] == loads[-1] else f"{loads[0]:.2f} to {loads[-1]:.2f}"]
    found["files"] = list(results.paths)
    return [(name, values) for name, values in found.items() if values]


def warnings(results: Results) -> list[str]:
    """What a reader should know before trusting the figures."""
    return [*_about_machines(results), *_about_revisions(results)]


def _about_machines(results: Results) -> Iterator[str]:
    if len(results.machines) > 1:
        yield "The results come from several machines; times of different machines cannot be compared."
    variants = [v for e in results.entries for v in e.variants]
    repeats, disturbed = sum(v.repeats for v in variants), sum(v.disturbed for v in variants)
    if repeats and disturbed / repeats > MUCH_DISTURBED:
        yield f"{disturbed} of {repeats} timed calls were disturbed by other work on the machine."
    if variants and not any(e.peaks for e in results.entries):
        yield "The machine's peak was not measured, so there is no roofline; polysched machine measures it."


def _about_revisions(results: Results) -> Iterator[str]:
    revisions = {e.provenance.git_revision for e in results.entries}
    if any(revision.endswith("-dirty") for revision in revisions):
        yield "Files had been changed since the git revision that is named."
    if len(revisions) > 1:
        yield "The results were measured by several revisions of the program."
    if results.older:
        what = "earlier result of the same thing is" if results.older == 1 else "earlier results of the same things are"
        yield f"{results.older} {what} not shown."


def anchor(entry: Entry) -> str:
    """The entry's place in the page."""
    return re.sub("-+", "-", f"{slug(entry.group)}-{slug(entry.title)}-{entry.threads}")
