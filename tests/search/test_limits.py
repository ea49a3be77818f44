"""The limits of searches make sense together."""

from polysched.measure.timing.statistics import median_interval
from polysched.search.limits import LIMITS


def test_the_samples_of_a_finalist_can_claim_a_gain():
    share = 1 - (1 - LIMITS.confidence) / LIMITS.finalists
    assert median_interval([1.0] * LIMITS.confirm_pairs, share).coverage >= share


def test_a_batch_holds_explored_and_ranked_recipes():
    assert 0 < int(LIMITS.explored_share * LIMITS.batch) < LIMITS.batch <= LIMITS.pool
