"""Products of matrices by the warps of a block."""
