"""Datasets on disk: their folders, how they are made, and the catalogue of public ones."""
