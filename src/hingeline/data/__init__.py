"""From users' input to a validated ``Problem``."""
