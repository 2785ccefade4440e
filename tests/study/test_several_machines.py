"""Parts of a study on several machines: their fits are those of the whole study."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lambdaplus.study import Config, study_of

METHODS = ("lightgbm:binary", "lightgbm:map")


@pytest.mark.slow
def test_two_processes_fit_parts_that_the_whole_study_takes(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    random = np.random.default_rng(0)
    x = random.normal(size=(600, 2))
    labels = (x.sum(axis=1) + random.normal(size=600) > 1).astype(int)
    rows = [
        f"{i // 10},{a:.3f},{b:.3f},{y}"
        for i, ((a, b), y) in enumerate(zip(x, labels, strict=True))
    ]
    file = tmp_path / "data.csv"
    file.write_text("\n".join(["qid,a,b,label", *rows]))
    command = [
        sys.executable, "-m", "lambdaplus", "compare", str(file), "--methods", ",".join(METHODS),
        "--rounds", "5", "--jobs", "1", "--metrics", "map",
    ]  # fmt: skip
    parts = {"1,2": tmp_path / "one", "3,4,5": tmp_path / "other"}
    started = [
        subprocess.Popen([*command, "--folds", folds, "--out", str(out)], stdout=subprocess.DEVNULL)
        for folds, out in parts.items()
    ]
    assert [process.wait(timeout=300) for process in started] == [0, 0]
    whole = tmp_path / "whole" / "fits"
    whole.mkdir(parents=True)
    for out in parts.values():
        for fit in (out / "fits").iterdir():
            shutil.copy2(fit, whole)
    config = Config(data=str(file), methods=METHODS, rounds=5, metrics=("map",))
    study = study_of(config, whole.parent)
    study.finish()
    assert study.kept == len(study.finished) == len(study) == 10
