"""Rows in lists: the only door from a user's labels, queries, weights and scores to numbers."""
