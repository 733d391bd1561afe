"""LIBLINEAR's program on hingeline's engines: its types, label order, folds, searches and predictions.

The command line calls it. It stands beside the estimators, which mean the same problems in scikit-learn's terms, and
does without scikit-learn, since importing that would take longer than training on a small file.
"""
