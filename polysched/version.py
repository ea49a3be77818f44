"""The version of the package, read by setup.cfg and written into every results file."""

__version__ = "0.1.0"
