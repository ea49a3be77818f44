"""Subcommands that answer questions about what the others do."""
