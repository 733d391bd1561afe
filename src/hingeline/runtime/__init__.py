"""How work runs: in slices, on threads, interruptible."""
