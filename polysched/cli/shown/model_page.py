"""What `polysched onnx` found: lines for a terminal, and a page with the plan as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from polysched.errors import UsageError

PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font-family: sans-serif; margin: 2em; max-width: 70em }} pre {{ white-space: pre-wrap }}</style></head>
<body>
<h1>{title}</h1>
<pre>{lines}</pre>
{plan}
</body>
</html>
"""


def check_page_name(name: str | None) -> None:
    """Refuse a page whose name no browser would open as one."""
    if name is not None and Path(name).suffix not in (".html", ".htm"):
        raise UsageError("the report is a page", witness=f"--report {name}", hint="name a file that ends in .html")


def page_of_model(found: Mapping[str, Any], plan: str) -> str:
    """The lines and the plan as HTML.

    Parameters
    ----------
    plan : drawn, as HTML; empty where nothing was compiled.
    """
    title, *lines = lines_of_model(found)
    return PAGE.format(title=escape(title), lines=escape("\n".join(line[2:] for line in lines)), plan=plan)


def lines_of_model(found: Mapping[str, Any]) -> list[str]:
    """What was found, as lines; the first one names the model."""
    lines = [f"{found['model']}: {sum(found['operators'].values())} nodes of {len(found['operators'])} operators"]
    for name, its_type in found["inputs"].items():
        said = " (decides about shapes, or what runs)" if name in found["steering_inputs"] else ""
        lines.append(f"  input  {name}: {its_type}{said}")
    lines += [f"  output {name}" for name in found["outputs"]]
    if "kernels" not in found:
        opened = ", ".join(n for n, v in found["sizes"].items() if v is None)
        return [*lines, f"  open sizes: {opened}; --size compiles it"]
    shared = f" in {found['regions']} parallel regions" if found["regions"] < found["kernels"] else ""
    lines.append(f"  {found['kernels']} kernels{shared}, {found['different_kernels']} of them different, "
                 f"{found['copies']} copies, arena {found['arena_bytes']} bytes, "
                 f"compiled in {found['compile_seconds']:.2f} s")
    lines += _plans(found["plans"])
    lines += [f"  {output}: {told}" for output, told in found["variants"].items()]
    lines += [f"  island {island['node']} on {island['runtime']}: {island['reason']} "
              f"({island['share']:.0%} of the time)" for island in found["islands"]]
    lines += [f"  wrote {path}" for path in (found.get("source"), found.get("plan"), *found.get("saved", ())) if path]
    return lines + _compared(found)


def _compared(found: Mapping[str, Any]) -> list[str]:
    """What was verified and timed."""
    lines = []
    if found["verified"]:
        lines.append(f"  verified against {found['verified']}: largest difference {found['largest_difference']:.3g}")
        lines += [f"    {line}" for line in found["losses"]]
    if "ratio" in found:
        lines.append(f"  {found['seconds'] * 1e3:.3f} ms on {found['threads']} threads, "
                     f"{found['ratio']['onnxruntime']:.2f} times as fast as ONNX Runtime "
                     f"({found['interval'][0]:.2f} to {found['interval'][1]:.2f})")
    return lines


def _plans(plans: Sequence[Mapping[str, Any]]) -> list[str]:
    """The plans that were measured."""
    lines = []
    for number, plan in enumerate(plans):
        said = (f"{plan['seconds'] * 1e6:.1f} us, {plan['ratio']['greedy']:.2f} times as fast as the greedy plan"
                if "seconds" in plan else f"{plan['verdict']}: {plan['reason']}")
        lines.append(f"  plan of {plan['kernels']} kernels: {said}{', kept' if not number else ''}")
    return lines
