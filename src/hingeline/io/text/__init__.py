"""svmlight text: reading, writing, and what is wrong with it."""
