"""The schema of results files, made from the values that they hold: JSON Schema, draft 2020-12.

A line is a measurement of `polysched run --results` or a record of `polysched bench`.  Each has a format version; a
reader of another version refuses the line.  What a line says of a field is what the docstring of its value says.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeAlias

from polysched.experiment.record import FORMAT_VERSION as RECORD_VERSION
from polysched.experiment.record import KIND, Record
from polysched.measure.measurement import FORMAT_VERSION, Measurement

Schema: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PLAIN = {str: "string", int: "integer", bool: "boolean"}
NUMBER: Schema = {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}
"""JSON has no number for these three, and their names stand in its place."""
HEADING = """# Results files

`polysched run --results FILE` and `polysched bench` append lines of JSON: measurements and records.
`polysched report --schema` prints their JSON Schema. As rows for other programs: `polysched report --csv`,
`read_results(paths).to_frame()`.
This page is made from the program: `pytest tests/report/test_schema.py --update-golden`.
"""
VERSIONS = f"""\
The format of measurements is {FORMAT_VERSION}, that of records {RECORD_VERSION}. A change of a field raises it,
and a reader of another version refuses the line instead of guessing. `nan`, `inf` and `-inf` are written as text."""
_FIELD = re.compile(r"^    (\w[\w, ]*) : (.*(?:\n {8,}\S.*)*)", re.MULTILINE)


def results_schema() -> Schema:
    """The schema of one line of a results file."""
    definitions: dict[str, Schema] = {}
    measurement = _object(Measurement, definitions)
    measurement["properties"]["format_version"] = {"const": FORMAT_VERSION}
    measurement["properties"]["derived"] = {"type": "object",
                                            "description": "what follows from the other fields; a reader ignores it"}
    record = _object(Record, definitions)
    record["properties"] |= {"format_version": {"const": RECORD_VERSION}, "kind": {"const": KIND}}
    record["required"] += ["kind", "format_version"]
    return {"$schema": DIALECT, "title": "A line of a results file of polysched",
            "oneOf": [{"$ref": "#/$defs/Measurement"}, {"$ref": "#/$defs/Record"}],
            "$defs": {"Measurement": measurement, "Record": record, **definitions}}


def _object(kind: Any, definitions: dict[str, Schema]) -> Schema:
    """The schema of a dataclass; those that it holds are added to the definitions."""
    hints = typing.get_type_hints(kind)
    said = described(kind)
    fields = dataclasses.fields(kind)
    return {"type": "object", "description": (kind.__doc__ or "").partition("\n")[0],
            "properties": {f.name: _with(_schema(hints[f.name], definitions), said.get(f.name)) for f in fields},
            "required": [f.name for f in fields if _is_required(f)], "additionalProperties": False}


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _with(schema: Schema, description: str | None) -> Schema:
    return schema if description is None else {**schema, "description": description}


def described(kind: Any) -> dict[str, str]:
    """What the docstring of a dataclass says of its fields."""
    text = kind.__doc__ or ""
    return {name.strip(): " ".join(meaning.split())
            for names, meaning in _FIELD.findall(text.partition("Parameters\n")[2]) for name in names.split(",")}


def _schema(kind: Any, definitions: dict[str, Schema]) -> Schema:
    """The schema of an annotation made of dataclasses, tuples, mappings, unions and plain types."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    if kind is float:
        return dict(NUMBER)
    if dataclasses.is_dataclass(kind):
        name = typing.cast(type, kind).__name__
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _object(kind, definitions)
        return {"$ref": f"#/$defs/{name}"}
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [_schema(argument, definitions) for argument in arguments]}
    if kind is type(None):
        return {"type": "null"}
    if origin is tuple:
        return _list(arguments, definitions)
    if origin is Mapping or origin is dict:
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    return {}


def _list(kinds: tuple[Any, ...], definitions: dict[str, Schema]) -> Schema:
    if kinds[-1] is Ellipsis:
        return {"type": "array", "items": _schema(kinds[0], definitions)}
    return {"type": "array", "prefixItems": [_schema(kind, definitions) for kind in kinds],
            "minItems": len(kinds), "maxItems": len(kinds)}


def schema_page() -> str:
    """The fields as Markdown, a table per value."""
    definitions = results_schema()["$defs"]
    parts = [f"## {name}\n\n{value['description']}\n\n{_table(value)}" for name, value in definitions.items()]
    return "\n\n".join([f"{HEADING}\n{VERSIONS}", *parts]) + "\n"


def _table(value: Schema) -> str:
    rows = [f"| `{name}` | {_type(field)} | {field.get('description', '').replace('|', chr(92) + '|')} |"
            for name, field in value["properties"].items()]
    return "\n".join(["| field | type | meaning |", "|---|---|---|", *rows])


def _type(field: Schema) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in field:
        parts = [_type(part) for part in field["anyOf"] if part.get("type") != "null" and "enum" not in part]
        return " or ".join(parts) + (", or null" if any(p.get("type") == "null" for p in field["anyOf"]) else "")
    if "const" in field:
        return f"`{field['const']}`"
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}" if "items" in field else "list"
    return str(field.get("type", "any"))
