"""Compile, run isolated, verify, time."""
