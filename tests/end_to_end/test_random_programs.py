"""Random programs through every scheduler: nothing is wrong.  More of them: `polysched fuzz --count N --seed S`."""

from __future__ import annotations

import pytest

from polysched.fuzz.campaign import CampaignOptions, run_campaign

MOST_SLOW = 2
"""Of 24; a loaded machine gives up more programs than an idle one."""


@pytest.mark.slow
@pytest.mark.parametrize("first", range(20_000, 20_072, 24))
def test_no_random_program_is_wrong(first: int) -> None:
    results = run_campaign(CampaignOptions(count=24, seed=first, chunk=24))
    wrong = [finding for result in results for finding in result.wrong]
    assert not wrong, "\n".join(f"{f.subject} {f.configuration} {f.kind}: {f.detail}" for f in wrong)
    assert sum(result.outcome == "slow" for result in results) <= MOST_SLOW
    assert sum(result.configurations for result in results) >= 90
