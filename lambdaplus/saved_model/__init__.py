"""A saved model: what ``about.json`` says of it, and the scores of the rows of a file by it.

These modules need no lambdaplus: they import each other by relative names, and are packed beside
each model as ``predict.pyz``.  lambdaplus reads the files that it trains on by the same modules.
"""
