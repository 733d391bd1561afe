"""One engine a file, and what they share."""
