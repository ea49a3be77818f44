"""Programs that compute the same: producers inside consumers, and terms by algebraic rules."""
