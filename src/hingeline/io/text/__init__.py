"""svmlight text."""
