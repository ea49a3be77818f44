"""Random programs on other targets than this machine's cores: ranks of MPI, and devices."""
