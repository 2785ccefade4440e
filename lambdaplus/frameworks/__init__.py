"""The arguments with which LightGBM and XGBoost call objectives and metrics, in one form."""
