"""Problems with an L1 or elastic-net penalty, solved over columns."""
