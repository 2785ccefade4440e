"""Saved models of little data."""

from pathlib import Path

import pytest
from scored_files import PLAN, trained

from lambdaplus.saved_model.columns import Column


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    numbered = [Column(str(j)) for j in range(1, 4)]
    return {
        "lightgbm": trained(folder / "lightgbm", "lightgbm", PLAN, 3),
        "xgboost": trained(folder / "xgboost", "xgboost", PLAN, 3),
        "numbered": trained(folder / "numbered", "lightgbm", numbered, 3),
    }
