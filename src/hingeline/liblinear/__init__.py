"""LIBLINEAR's program on hingeline's engines: its types, label order, folds, searches and predictions.

The command line calls it. The estimators solve the same problems in scikit-learn's terms. This package works without
scikit-learn, because importing that takes longer than training on a small file.
"""
