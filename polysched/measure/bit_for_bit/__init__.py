"""Run replaced statements beside their originals, on random and corner data, and compare every bit."""
