"""Multinomial logistic regression."""
