"""Regions without pragmas: where they are, and what is left."""
