"""Every module has its test file, in the folder of tests/ that mirrors its own: a ratchet over those that have none.

The list beside this file only shrinks: a module that got its test file goes; `--update-golden` takes it out, and never
adds one.  What such a module does is tested through others.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import polysched

ROOT = Path(polysched.__file__).parent
TESTS = Path(__file__).parents[1]
RATCHET = Path(__file__).with_name("modules_without_tests.txt")
SHARED = {"limits.py": "architecture/test_constants.py"}
"""Modules that all rooms have, and the test of all of them: a limit has a unit and a source, stands under the module
that asks for it, and is asked for."""


def modules_without_tests() -> set[str]:
    """The modules of the package that no file of tests/ is named after."""
    modules = (path.relative_to(ROOT) for path in ROOT.rglob("*.py") if not path.name.startswith("__"))
    return {str(path) for path in modules if path.name not in SHARED
            and not (TESTS / path.parent / f"test_{path.name}").exists()}


def test_a_new_module_has_its_test_file(request: pytest.FixtureRequest) -> None:
    found, known = modules_without_tests(), set(RATCHET.read_text().split())
    if request.config.getoption("--update-golden"):
        RATCHET.write_text("".join(f"{name}\n" for name in sorted(found & known)))
    assert not found - known, "without a test file of their own"


def test_the_list_has_no_module_that_got_its_tests() -> None:
    assert not set(RATCHET.read_text().split()) - modules_without_tests(), "shrink the list with --update-golden"


def test_what_all_rooms_have_is_tested_in_every_room() -> None:
    for name, shared in SHARED.items():
        rooms = [str(path.parent.relative_to(ROOT)) for path in ROOT.rglob(name)]
        assert rooms
        assert f'ROOT.rglob("{name}")' in (TESTS / shared).read_text()


def test_most_modules_of_the_emitter_have_their_tests() -> None:
    assert len([name for name in modules_without_tests() if name.startswith("emit_c/")]) < 50
