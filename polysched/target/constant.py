"""`constant`: a field of a frozen record that steers a choice, with its unit and where its value is from.

Records are plain frozen dataclasses: one can be replaced as a whole (`dataclasses.replace`), and a table of them all is
read from the fields themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields
from typing import Any

from polysched.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Constant:
    """A constant as tables show it.

    Parameters
    ----------
    name : of the field.
    value : of one record.
    unit : of the value; `1` for a share or a factor.
    source : where the value is from, in a sentence.
    experiment : the command that measures it; empty where nothing does.
    """

    name: str
    value: float
    unit: str
    source: str
    experiment: str = ""


def constant(value: Any, *, unit: str, source: str, experiment: str = "") -> Any:
    """A field with this default.

    Raises
    ------
    ValueError : the unit or the source is left open.
    """
    if not unit or not source:
        raise ValueError("a constant has a unit and a source")
    return field(default=value, metadata={"unit": unit, "source": source, "experiment": experiment})


def constants(record: Any) -> Iterator[Constant]:
    """The constants of a record, in the order in which they are declared.

    Raises
    ------
    ValueError : a field was not declared by `constant`.
    """
    for declared in fields(record):
        if "unit" not in declared.metadata:
            raise ValueError(f"{type(record).__name__}.{declared.name} has no unit")
        yield Constant(name=declared.name, value=getattr(record, declared.name), **declared.metadata)
