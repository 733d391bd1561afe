"""How work is run: paced, on threads, interruptible."""
