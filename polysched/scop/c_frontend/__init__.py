"""C regions between `#pragma scop` and `#pragma endscop` as Scops."""
