"""What every stage's value shares: IPython on a terminal shows it as `str` does, a notebook as its HTML.

Its `repr` is one line, since a value often stands inside another, in a traceback or in a list.
"""

from __future__ import annotations

from typing import Protocol

from polysched.records import shortened


class _Printer(Protocol):
    def text(self, text: str) -> None:
        """Print a text."""


class Shown:
    """A value with a text for people (`__str__`); `_repr_html_` is each value's own."""

    def __init_subclass__(cls) -> None:
        """Both methods stand in the class itself: IPython looks for the one there, and `dataclass` keeps the other."""
        super().__init_subclass__()
        for name, method in (("_repr_pretty_", Shown._repr_pretty_), ("__repr__", Shown.__repr__)):
            if name not in vars(cls):
                setattr(cls, name, method)

    def headline(self) -> str:
        """What the value is, in a few words; each class says its own."""
        return ""

    def __repr__(self) -> str:
        return shortened(f"<{type(self).__name__} {self.headline()}".rstrip() + ">")

    def _repr_pretty_(self, printer: _Printer, cycle: bool) -> None:
        printer.text(str(self).rstrip("\n"))
