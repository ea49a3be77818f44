"""Programs whose instances may run in more orders than those of the program as written."""
