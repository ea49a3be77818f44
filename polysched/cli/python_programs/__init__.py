"""Commands on programs in Python."""
