"""Newton's method: smoothed, proximal, by factors or by products."""
