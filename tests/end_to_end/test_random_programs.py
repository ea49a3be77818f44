"""Random programs through every scheduler: nothing is wrong.  More of them: `polysched fuzz --count N --seed S`."""

from __future__ import annotations

import pytest

from polysched.fuzz.campaign import CampaignOptions, run_campaign


@pytest.mark.slow
@pytest.mark.parametrize("first", range(20_000, 20_024, 6))
def test_no_random_program_is_wrong(first: int) -> None:
    results = run_campaign(CampaignOptions(count=6, seed=first, chunk=6, limit_seconds=300))
    wrong = [finding for result in results for finding in result.wrong]
    assert not wrong, "\n".join(f"{f.subject} {f.configuration} {f.kind}: {f.detail}" for f in wrong)
    assert sum(result.configurations for result in results) >= 18
