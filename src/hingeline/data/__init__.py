"""From what users hand over to a validated ``Problem``."""
