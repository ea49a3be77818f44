"""Of the regions that are found, those are kept that all stages accept; the first refusal is remembered."""

import logging

import pytest

from polysched.errors import IllegalScheduleError, UnsupportedScopError, UsageError
from polysched.pipeline import detected_regions
from polysched.pipeline.detected_regions import DetectedRegions
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from tests.scop.c_frontend.read_region import in_function

PLAIN = from_c_text(in_function("for (int i = 0; i < n; i++) x[i] = 1;", head="int n, double *restrict x"))
OVERLAPPING = from_c_text(in_function("for (int i = 0; i < n; i++) r[i][0] = r[i][1] + k[i][0];",
                                      head="int n, double **r, double ***s, double **k"))


def refuse(error: Exception):
    def run(scop: Scop) -> str:
        raise error
    return run


def test_accepted_regions_are_kept_in_their_order() -> None:
    regions = DetectedRegions(lambda scop: scop.name.upper(), trusted=True)
    assert regions.judge(PLAIN) is None
    assert regions.judge(OVERLAPPING) is None
    assert regions.regions == ["F", "F"]
    assert regions.first_refusal is None
    assert regions.seconds > 0


def test_the_first_refusal_is_remembered() -> None:
    first, second = UnsupportedScopError("one"), IllegalScheduleError("two")
    regions = DetectedRegions(refuse(first), trusted=True)
    assert regions.judge(PLAIN) is first
    regions.run = refuse(second)
    assert regions.judge(PLAIN) is second
    assert regions.first_refusal is first
    assert regions.regions == []


def test_a_fault_of_the_program_is_told_of_its_region(caplog: pytest.LogCaptureFixture) -> None:
    for error, told in ((KeyError("S0"), "polysched itself fails at it, KeyError: 'S0'"),
                        (RecursionError("depth"), "deeper inside one another than Python")):
        regions = DetectedRegions(refuse(error), trusted=True)
        with caplog.at_level(logging.DEBUG):
            refusal = regions.judge(PLAIN)
        assert refusal is not None
        assert told in refusal.problem
        assert regions.first_refusal is refusal
        assert "Traceback" in caplog.text
        assert type(error).__name__ in caplog.text


def test_faults_of_the_options_and_of_the_machine_are_no_judgement() -> None:
    for error in (UsageError("options"), MemoryError()):
        regions = DetectedRegions(refuse(error), trusted=True)
        with pytest.raises(type(error)):
            regions.judge(PLAIN)
        assert regions.first_refusal is None


def test_what_no_test_can_tell_is_refused_unless_somebody_promised_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detected_regions, "untestable", lambda scop: scop.assumptions)
    careful, trusted = (DetectedRegions(lambda scop: scop, trusted=trusted) for trusted in (False, True))
    assert trusted.judge(OVERLAPPING) is None
    assert careful.judge(PLAIN) is None
    told = careful.judge(OVERLAPPING)
    assert told is not None
    assert "nobody promised" in told.problem
    assert told.witness == OVERLAPPING.assumptions[0].text
    assert str(OVERLAPPING.statements[0].line) in str(told.where)
    assert careful.regions == [PLAIN]
