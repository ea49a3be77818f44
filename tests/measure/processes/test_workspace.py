"""Temporary folders: private, of their own, and gone whatever happens."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path

import pytest

from polysched.measure.processes.workspace import workspace


def test_a_folder_is_its_users_alone_and_gone_afterwards() -> None:
    with workspace() as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert list(folder.iterdir()) == []
        (folder / "deep" / "er").mkdir(parents=True)
        (folder / "deep" / "file").write_text("x")
    assert not folder.exists()


def test_it_is_gone_after_an_interruption() -> None:
    with pytest.raises(KeyboardInterrupt), workspace() as folder:
        raise KeyboardInterrupt
    assert not folder.exists()


def test_two_at_once_are_two() -> None:
    with workspace() as one, workspace() as other:
        assert one != other


def test_it_stands_where_temporary_files_shall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with workspace() as folder:
        assert folder.parent == tmp_path


def test_a_folder_that_somebody_else_removed_is_no_error() -> None:
    with workspace() as folder:
        folder.rmdir()
    assert not folder.exists()
