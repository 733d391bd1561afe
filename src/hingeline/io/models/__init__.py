"""Model files, and the kinds of models that they hold."""
