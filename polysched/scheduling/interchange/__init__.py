"""Schedules in the notations of other tools: isl's maps and trees, Pluto's lines, Halide's chains of calls."""
