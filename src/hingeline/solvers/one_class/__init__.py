"""The one-class problem."""
