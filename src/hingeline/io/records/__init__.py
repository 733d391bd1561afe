"""What commands leave in folders: the records of a training run and of a search for C."""
