"""Random programs through every scheduler: nothing is wrong.  More and larger ones: `polysched fuzz --count N`."""

from __future__ import annotations

import pytest

from polysched.fuzz.campaign import CampaignOptions, kinds_of, run_campaign
from tests.tiers import and_campaign

COUNT = 12
MOST_SLOW = 1


@pytest.mark.slow
@pytest.mark.parametrize("first", and_campaign([20_000], range(20_000, 20_240, COUNT)))
def test_no_random_program_is_wrong(first: int) -> None:
    # most faults show in small programs, and several of them cost what a large one does
    results = run_campaign(CampaignOptions(count=COUNT, seed=first, chunk=COUNT, statements=2, depth=3))
    wrong = [finding for result in results for finding in result.wrong]
    assert not wrong, "\n".join(f"{f.subject} {f.configuration} {f.kind}: {f.detail}" for f in wrong)
    assert sum(result.outcome == "slow" for result in results) <= MOST_SLOW
    assert sum(result.configurations for result in results) >= 30
    kinds = kinds_of(results)
    assert {"scheduler pluto", "scheduler isl", "scheduler feautrier", "scheduler strategy", "random primitives",
            "expanded temporaries", "diamonds", "compiled with gcc -O3 -march=native"} <= set(kinds)
