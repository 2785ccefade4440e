"""How LightGBM and XGBoost call us: the arguments of an objective or a metric, in one form.

Calls enter as each framework makes them; labels, scores, queries and workers leave.
"""
