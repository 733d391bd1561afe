"""The engines, one per file, and what they share."""
