"""A Scop as text for people, and isl's own notation of a schedule tree over several lines."""

from __future__ import annotations

import islpy as isl

from polysched.scop.scop import Scop


def scop_text(scop: Scop) -> str:
    """A Scop for reading: arrays, statements with their accesses, and the order as written."""
    lines = [f"context: {scop.context}", f"parameters: {', '.join(p.name for p in scop.parameters)}", "arrays:"]
    lines += [f"  {a.dtype} {a.name}{''.join(f'[{extent or str()}]' for extent in a.c_extents)} ({a.storage.value})"
              for a in scop.arrays]
    for statement in scop.statements:
        lines += [f"statement {statement.name}, line {statement.line}:", f"  domain: {statement.domain}"]
        lines += [f"  {a.kind.value} {a.reference}: {a.relation.gist_domain(statement.domain)}"
                  for a in statement.accesses]
    lines += [f"assumption {a.kind}: {a.text}" for a in scop.assumptions]
    lines += [f"note: {note}" for note in scop.notes]
    return "".join(f"{line}\n" for line in [*lines, "schedule as written:", isl_tree_text(scop.schedule)])


def isl_tree_text(tree: isl.Schedule) -> str:
    """A schedule tree in isl's notation with one node a line, indented as it nests."""
    printer = isl.Printer.to_str(tree.get_ctx()).set_yaml_style(isl.yaml_style.BLOCK)
    return str(printer.print_schedule(tree).get_str()).rstrip()
