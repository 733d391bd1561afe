"""What numba compiles, and nothing else: no printing, no clock, no Python objects."""
