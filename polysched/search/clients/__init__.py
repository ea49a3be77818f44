"""Searches that other rooms ask for: plans of instructions in the pipeline, the code of a `safe` kernel."""
