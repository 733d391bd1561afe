"""What commands leave in a folder."""
