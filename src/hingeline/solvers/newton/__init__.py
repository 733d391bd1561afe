"""Newton's method for smooth and smoothed losses, by Cholesky factors or conjugate gradients."""
