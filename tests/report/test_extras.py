"""Packages of the extra `report`: found, or refused with how to install them."""

import json

import pytest

from polysched.errors import UsageError
from polysched.report.extras import required


def test_a_package_that_is_there() -> None:
    assert required("json") is json


def test_a_package_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="a report needs no_such_package") as refusal:
        required("no_such_package")
    assert "pip install 'polysched[report]'" in str(refusal.value)


def test_a_fault_inside_a_package_is_not_hidden(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_package.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        required("broken_package")
