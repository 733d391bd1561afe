"""Dual coordinate ascent, and what its engines share."""
