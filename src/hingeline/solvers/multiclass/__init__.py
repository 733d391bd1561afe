"""Crammer and Singer's problem for several classes."""
