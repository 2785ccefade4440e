"""What files, folders, models and workers of somebody else cannot do."""

import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import polars as pl
import pytest
import xgboost
from commands import invoke
from killed_runs import contents

from lambdaplus.data import read_letor, read_table
from lambdaplus.data.output_folder import OutputFolder
from lambdaplus.data.table_files import TableFile
from lambdaplus.lists.keys import identifiers
from lambdaplus.lists.runs import run_of_dictionaries
from lambdaplus.metrics import parse_metric
from lambdaplus.metrics.names import split_names
from lambdaplus.objectives import lambda_objective
from lambdaplus.saved_model.features import numbered_features
from lambdaplus.saved_model.scores import score_file
from lambdaplus.study import Config, find_methods, study_of
from lambdaplus.study.fits import Fit, load_fits, save_fits
from lambdaplus.study.store import Store

TABLE = "qid,label,score\n1,0,0.5\n1,1,0.25\n2,1,0.5\n2,0,0.1\n"


# Code beside the data -----------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["-m lambdaplus", "-P -c 'import lambdaplus.cli as c; c.main()'"])
def test_code_beside_the_data_does_not_run(tmp_path: Path, start: str) -> None:
    """Python looks for these, and a current folder that is on its path has them."""
    for name in ("cffi", "catboost", "pyarrow_hotfix", "sitecustomize", "typing", "json", "polars"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()")
    (tmp_path / "a.csv").write_text(TABLE)
    line = f"{sys.executable} {start} evaluate a.csv --metrics map"
    done = subprocess.run(
        line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "0.7500" in done.stdout, done.stderr
    assert not (tmp_path / "ran").exists()


# What multiprocessing imports in the processes that it starts, and what fits import there.
OF_PROCESSES = ("multiprocessing", "signal", "socket", "pickle", "numpy", "joblib", "lightgbm")


@pytest.mark.slow
def test_code_beside_the_data_does_not_run_in_processes_of_fits(tmp_path: Path) -> None:
    for name in OF_PROCESSES:
        (tmp_path / f"{name}.py").write_text("open('ran', 'a').write(__name__)")
    rows = "".join(f"{q},{d % 2},{d * q % 7},{d}\n" for q in range(20) for d in range(4))
    (tmp_path / "a.csv").write_text(f"qid,label,x,y\n{rows}")
    code = "import lambdaplus.cli as c; c.main()"
    options = ["--methods", "svm:map,feature:best", "--folds", "1", "--jobs", "2"]
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "compare", "a.csv", *options],
        cwd=tmp_path, env={**os.environ, "PYTHONSAFEPATH": ""}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()


COMPILES = """{first}
import numpy as np
from lambdaplus import lambda_map
lambda_map(np.array([1.0, 0, 0]), np.array([0.0, 1, 2]), None, [3])
import yaml
print(yaml.safe_load("read: 1"), np.__name__)
"""


@pytest.mark.parametrize("first", ["", "import yaml", "import numba"])
def test_settings_of_numba_beside_the_data_are_not_used(tmp_path: Path, first: str) -> None:
    """They say where compiled code is loaded from; without numba, also what files are written."""
    settings = "cache_dir: kernels\ncache_locator_classes: beside.Locator\n"
    if "numba" not in first:
        settings += "chrome_trace: trace.json\n"
    (tmp_path / ".numba_config.yaml").write_text(settings)
    (tmp_path / "beside.py").write_text("open('ran', 'w').close()")
    env = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    done = subprocess.run(
        [sys.executable, "-c", COMPILES.format(first=first)],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "{'read': 1} numpy\n", done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {".numba_config.yaml", "beside.py"}
    assert "yaml" not in done.stderr


FILES = (
    "forcedsplits_filename", "forced_splits", "num_machines", "machines", "local_port", "config",
    "save_binary", "input_model", "snapshot_freq", "memory", "train_dir", "cache_path",
)  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "text",
    [
        'methods = ["lightgbm:lambdarank"]\n[grid."lightgbm:lambdarank"]\n{} = ["x"]',
        'methods = ["lightgbm:lambdarank({}=x)"]',
        'methods = ["lightgbm:lambdarank(boosting=gbdt {}=x)"]',
        'methods = ["lightgbm:map"]\n[grid."lightgbm:lambda_map"]\nboosting = ["gbdt\\t{}=x"]',
        'methods = ["sklearn.svm:LinearSVC({}=x)"]',
        'methods = ["lightgbm.sklearn:LGBMRanker({}=x)"]',
    ],
)
def test_a_study_opens_no_files_and_connections(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(ValueError, match=f"with {name}: it may read or write files, or connect"):
        study_of(Config.from_toml(text.format(name), folds="1"), tmp_path)


CLASS = "class First:\n    def fit(self, X, y): ...\n    def predict(self, X): ...\n"


def test_the_current_folder_is_searched_for_a_class_that_is_asked_for_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_module.py").write_text(f"import own_helper\n\n\n{CLASS}")
    (tmp_path / "own_helper.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", before := [folder for folder in sys.path if folder])
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", searched := [*before])
        find_methods("sklearn.svm:LinearSVC,own_module:First")
        assert searched == sys.path == before
    # A module that is installed is not searched for in that folder, nor what it imports.
    (tmp_path / "sklearn").mkdir()
    [method] = find_methods("sklearn.svm:LinearSVC")
    assert method.name == "sklearn.svm:LinearSVC"


@pytest.mark.parametrize(
    "name",
    [
        "subprocess:Popen(shell=True)",
        "os:system",
        "builtins:dict",
        "shutil:rmtree",
        "builtins:exec",
    ],
)
def test_what_is_no_estimator_is_refused_before_it_is_called(name: str) -> None:
    with pytest.raises(ValueError, match=r"is not a class with the methods fit and predict"):
        find_methods(name)


# A folder that somebody prepared --------------------------------------------------------------


def noted(folder: Path, *names: str) -> None:
    """A list of files that lambdaplus seems to have written, with their digests."""
    (folder / ".lambdaplus").mkdir()
    digests = [hashlib.sha256(b"mine").hexdigest()]
    text = json.dumps(dict.fromkeys(names, digests))
    (folder / ".lambdaplus" / "written.json").write_text(text)


OUTSIDE = ["plots/../../x", "../x", "plots/link/x", "{}/x", "plots/sub/../../../x", "plots/\0x"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_files_outside_of_an_output_folder_are_not_removed(tmp_path: Path, name: str) -> None:
    out, mine = tmp_path / "out", tmp_path / "x"
    (out / "plots" / "sub").mkdir(parents=True)
    (out / "plots" / "link").symlink_to(tmp_path)
    mine.write_text("mine")
    noted(out, name.format(tmp_path))
    with OutputFolder(out) as folder:
        (folder.made / "summary.csv").write_text("new")
        folder.publish(outdated=["plots/*", "../*", "/*", "", "*"])
    assert mine.read_text() == "mine"
    assert (out / "summary.csv").read_text() == "new"


@pytest.mark.parametrize("text", ['{"a": 5}', '{"summary.csv": [5]}', "[" * 100_000, "5", '"x"'])
def test_odd_lists_of_written_files_name_none(tmp_path: Path, text: str) -> None:
    (tmp_path / ".lambdaplus").mkdir()
    (tmp_path / ".lambdaplus" / "written.json").write_text(text)
    with OutputFolder(tmp_path) as folder:
        (folder.made / "summary.csv").write_text("new")
        folder.publish()
    assert (tmp_path / "summary.csv").read_text() == "new"


@pytest.mark.parametrize("name", ["about.json.bak", "plots/notes.txt", "plots/sub/x.svg"])
def test_a_prepared_list_removes_no_file_of_another_name(tmp_path: Path, name: str) -> None:
    mine = tmp_path / name
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine")
    noted(tmp_path, name)
    with OutputFolder(tmp_path) as folder:
        (folder.made / "about.json").write_text("new")
        folder.publish(outdated=["about.json", "plots/*.svg"], last="about.json")
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("part", [".lambdaplus", "plots", "fits", ".lambdaplus/lock"])
def test_links_in_an_output_folder_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """Before anything is written through them, or removed."""
    monkeypatch.chdir(tmp_path)
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out"
    (out / part).parent.mkdir(parents=True)
    if part.endswith("lock"):
        elsewhere.write_text("mine")
    else:
        (elsewhere / "made").mkdir(parents=True)
        (elsewhere / "made" / "thesis").write_text("mine")
    (out / part).symlink_to(elsewhere)
    before = contents(tmp_path)
    options = ("--methods", "feature:best", "--folds", 1, "--jobs", 1, "--report")
    found = invoke("compare", "--out", "out", *options, ends=2)
    assert f"{part} is a symbolic link, through which this run would write" in found.output
    assert contents(tmp_path).items() >= before.items()
    assert elsewhere.read_text() == "mine" if elsewhere.is_file() else [*elsewhere.iterdir()]


@pytest.mark.parametrize("part", ["", "/lock", "/made", "/written.json"])
@pytest.mark.parametrize("kind", ["a pipe", "another kind"])
def test_what_is_no_file_or_folder_of_an_output_folder_is_refused(
    tmp_path: Path, part: str, kind: str
) -> None:
    """A pipe, which would never end; a folder in place of a file, or a file of a folder."""
    path = Path(f"{tmp_path}/.lambdaplus{part}")
    path.parent.mkdir(exist_ok=True)
    if kind == "a pipe":
        os.mkfifo(path)
    elif part in ("", "/made"):
        path.write_text("mine")
    else:
        path.mkdir()
    with pytest.raises(FileExistsError, match=f"{path.name} is no "), OutputFolder(tmp_path):
        pass
    assert path.exists()


@pytest.mark.parametrize("name", ["plots/" + "x" * 5_000, "plots/" + "x/" * 3_000 + "x"])
def test_names_that_no_file_can_have_are_ignored(tmp_path: Path, name: str) -> None:
    noted(tmp_path, name)
    with OutputFolder(tmp_path) as folder:
        (folder.made / "summary.csv").write_text("new")
        folder.publish(outdated=["plots/*"])
    assert name not in (tmp_path / ".lambdaplus" / "written.json").read_text()


def test_a_pipe_in_the_cache_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMBDAPLUS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "a.txt").write_text("1 qid:1 1:1\n" * 90_000)  # smaller files are not kept
    read_letor(tmp_path / "a.txt")
    [entry] = (tmp_path / "cache").rglob("*.npz")
    entry.unlink()
    os.mkfifo(entry)
    assert read_letor(tmp_path / "a.txt").labels.sum() == 90_000


GOOD = Fit(
    "svm:map", "Fold1", 0, 0, "map", value=0.5, curve=np.zeros(2), validation=np.ones(4),
    test=np.ones(3), seconds=0.5, warnings=[],
)  # fmt: skip
ODD_FITS: dict[str, Any] = {
    "rounds of text": {"rounds": "x"},
    "negative rounds": {"rounds": -1},
    "many rounds": {"rounds": 10**30},
    "rounds in a list": {"rounds": [1]},
    "steps of text": {"every": "x"},
    "a time of text": {"seconds": "x"},
    "a value of text": {"value": "x"},
    "a method by number": {"method": 5},
    "a list of parameters": {"parameters": [1]},
    "a number of warnings": {"warnings": 5},
    "warnings by number": {"warnings": [5]},
    "a curve of text": {"curve": np.array(["x"])},
    "a table of values": {"curve": np.ones((2, 2))},
    "one value": {"curve": np.array(1.0)},
    "scores of text": {"test": np.array(["x"])},
    "complex scores": {"test": np.ones(3, complex)},
    "no finite scores": {"validation": np.full(4, np.nan)},
}


@pytest.mark.parametrize("odd", ODD_FITS.values(), ids=ODD_FITS)
def test_an_odd_fit_in_an_output_folder_is_an_error(tmp_path: Path, odd: dict[str, Any]) -> None:
    """After which it is fitted again, as every damaged one."""
    save_fits(tmp_path / "fit.npz", [GOOD])
    assert [fit.value for fit in load_fits(tmp_path / "fit.npz")] == [0.5]
    save_fits(tmp_path / "fit.npz", [replace(GOOD, **odd)])
    with pytest.raises(ValueError, match=r"fit\.npz is damaged or not this fit"):
        load_fits(tmp_path / "fit.npz")


def test_plots_are_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "plots").symlink_to(tmp_path / "elsewhere")
    with OutputFolder(tmp_path / "out") as folder:
        (folder.made / "plots").mkdir()
        (folder.made / "plots" / "a.png").write_text("new")
        with pytest.raises(FileExistsError, match="plots is a symbolic link"):
            folder.publish()
    assert not [*(tmp_path / "elsewhere").iterdir()]
    (tmp_path / "out" / "fits").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError, match="fits is a symbolic link"):
        _ = Store(tmp_path / "out").folder


def test_the_lock_has_the_rights_that_the_user_gives_to_files(tmp_path: Path) -> None:
    umask = os.umask(0o077)
    try:
        with OutputFolder(tmp_path):
            mode = (tmp_path / ".lambdaplus" / "lock").stat().st_mode
    finally:
        os.umask(umask)
    assert not mode & 0o077


# Names in a terminal ------------------------------------------------------------------------------

EVIL = "x\nBest by MAP on validation data: evil\x1b[2J\x9b31m\u202e"
SHOWN = r"x\nBest by MAP on validation data: evil\x1b[2J\x9b31m\u202e"


def lines_of(output: str, times: int = 1) -> list[str]:
    """The lines, none of which a name has made."""
    assert not {"\x1b", "\x9b", "\u202e", "\r"} & {*output}
    lines = output.splitlines()
    assert sum(line.lstrip().startswith("Best by MAP") for line in lines) == times - 1
    assert SHOWN in output
    return lines


def test_names_of_runs_print_no_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = f"{EVIL}.csv"
    for file in (name, "a.csv"):
        Path(file).write_text(TABLE)
    lines_of(invoke("evaluate", name, "a.csv", "--pairs").output)
    lines_of(invoke("evaluate", f"{EVIL}.tsv", ends=2).output)
    Path(name).write_text(TABLE.replace("score", "other"))
    lines_of(invoke("evaluate", name, ends=2).output)


def test_an_error_of_a_long_cell_is_short(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"qid,label,score\n1,0,{'x' * 1_000_000}\n")
    output = invoke("evaluate", tmp_path / "a.csv", ends=2).output
    assert "column 'score', row 1 below the header: 'xxx" in output
    assert output.rstrip().endswith("xxx' is not a number")
    assert len(output) < 30_000


def test_names_of_columns_folds_and_methods_print_no_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    random, folder = np.random.default_rng(0), Path(EVIL)
    folder.mkdir()
    rows = "".join(
        f"{q},{random.integers(2)},{random.random()},text {q} {d}\n"
        for q in range(20)
        for d in range(3)
    )
    for part in ("train", "vali", "test"):
        (folder / f"{part}.csv").write_text(f'qid,label,"{EVIL}","text {EVIL}"\n{rows}')
    Path("own_method.py").write_text(
        "from sklearn.svm import LinearSVC\n\n\nclass Own(LinearSVC):\n"
        "    def __init__(self, note='', penalty='l2'):\n        super().__init__(penalty)\n"
        "        self.note = note\n\n\nclass Fails(Own):\n"
        "    def fit(self, X, y):\n        raise ValueError(self.note or 'none')\n"
    )
    own = "own_method:Own"
    lines_of(invoke("compare", folder, "--methods", f"{own}(penalty={EVIL})", ends=2).output)
    methods = f"{own}(note={EVIL}),{own},own_method:Fails(note={EVIL})"
    options = ("--methods", methods, "--metrics", "map", "--jobs", 1, "--out", f"out {EVIL}")
    found = invoke("compare", folder, *options, ends=1).output  # the last one fails
    begins = ("20 queries are in both .*", "Data: .*", ".*Left out: text ", "own_method:Own.note=")
    begins += (r"own_method:Fails.note=.* failed: .*", "Wrote .* to out ")
    for begin in begins:
        assert re.search(f"(?m)^ *{begin}{re.escape(SHOWN)}", found), begin
    lines_of(found, times=2)  # the line that lambdaplus prints


def test_names_in_a_report_and_its_plots_obey_nothing(tmp_path: Path) -> None:
    evil = "x\x1b[2J\x07\u202e<b>"
    random = np.random.default_rng(0)
    rows = [
        (q, int(x > 0.5), x, random.random())
        for q in range(30)
        for x in random.normal(size=6).tolist()
    ]
    frame = pl.DataFrame(rows, schema=["qid", "label", evil, "other"], orient="row")
    frame.write_csv(tmp_path / "a.csv")
    options = ("--methods", "lightgbm:map", "--folds", 1, "--rounds", 3, "--jobs", 1, "--report")
    invoke("compare", tmp_path / "a.csv", *options, "--out", tmp_path / "out")
    pages = [tmp_path / "out" / "report.html", *(tmp_path / "out" / "plots").glob("*.svg")]
    shown = r"x\x1b[2J\x07\u202e&lt;b&gt;"
    assert shown in pages[0].read_text()
    assert shown in (tmp_path / "out" / "plots" / "importance.svg").read_text()
    for page in pages:
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page.read_text()), page


# A model ------------------------------------------------------------------------------------------

ABOUT = {"framework": "lightgbm", "columns": [{"name": "x"}]}
LEVELS = {"name": "x", "kind": "category"}
ODD: dict[str, Any] = {
    "no JSON": "{",
    "deep": "[" * 100_000,
    "a list": "[]",
    "a number": "5",
    "no framework": json.dumps({"columns": []}),
    "another framework": json.dumps(ABOUT | {"framework": "../x"}),
    "a list of frameworks": json.dumps(ABOUT | {"framework": ["lightgbm"]}),
    "one column": json.dumps(ABOUT | {"columns": "x"}),
    "columns in a dictionary": json.dumps(ABOUT | {"columns": {"x": {"name": "x"}}}),
    "columns by number": json.dumps(ABOUT | {"columns": [{"name": 1}]}),
    "a column of something else": json.dumps(ABOUT | {"columns": [{"name": "x", "y": "z"}]}),
    "a kind by number": json.dumps(ABOUT | {"columns": [{"name": "x", "kind": 1}]}),
    "levels by number": json.dumps(ABOUT | {"columns": [LEVELS | {"levels": [1]}]}),
    "levels of text": json.dumps(ABOUT | {"columns": [LEVELS | {"levels": "abc"}]}),
    "a level twice": json.dumps(ABOUT | {"columns": [LEVELS | {"levels": ["a", "a"]}]}),
    "no columns": json.dumps(ABOUT | {"columns": []}),
    "a column twice": json.dumps(ABOUT | {"columns": [{"name": "x"}, {"name": "x"}]}),
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_an_odd_description_of_a_model_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "about.json").write_text(text)
    (tmp_path / "new.csv").write_text("x\n1\n")
    with pytest.raises(
        ValueError, match=r"about\.json is damaged, or was written by another program"
    ):
        score_file(tmp_path, tmp_path / "new.csv")


@pytest.mark.parametrize("text", [None, "", "tree\nversion=v4\n", "\0"])
@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_an_odd_model_is_an_error(tmp_path: Path, framework: str, text: str | None) -> None:
    (tmp_path / "about.json").write_text(json.dumps(ABOUT | {"framework": framework}))
    (tmp_path / "new.csv").write_text("x\n1\n")
    file = tmp_path / {"lightgbm": "model.txt", "xgboost": "model.json"}[framework]
    if text is not None:
        file.write_text(text)
    with pytest.raises(ValueError, match=f"{file.name} cannot be read: "):
        score_file(tmp_path, tmp_path / "new.csv")


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("names", [["x"], ["x", "y", "z"]])
def test_a_model_of_other_columns_than_described_is_an_error(
    tmp_path: Path, names: list[str], framework: str
) -> None:
    features, labels = np.arange(80.0).reshape(40, 2), np.arange(40.0)
    if framework == "lightgbm":
        lightgbm.train({"verbosity": -1}, lightgbm.Dataset(features, labels), 1).save_model(
            tmp_path / "model.txt"
        )
    else:
        xgboost.train({}, xgboost.DMatrix(features, labels), 1).save_model(tmp_path / "model.json")
    about = ABOUT | {"framework": framework, "columns": [{"name": name} for name in names]}
    (tmp_path / "about.json").write_text(json.dumps(about))
    (tmp_path / "new.csv").write_text("x,y,z\n1,2,3\n")
    with pytest.raises(ValueError, match=r"model\.(txt|json) does not fit .*about\.json: "):
        score_file(tmp_path, tmp_path / "new.csv")


@pytest.mark.parametrize("name", ["9" * 30, "9" * 5_000, "\u0663"])
def test_numbers_that_no_feature_has_are_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "new.txt").write_text("1 qid:1 1:1\n")
    with pytest.raises(ValueError, match=r"its columns have no names"):
        [*numbered_features(tmp_path / "new.txt", [name])]


# Names and identifiers ----------------------------------------------------------------------------

LONG_NAMES: dict[str, Callable[[], Any]] = {
    "a list of metrics": lambda: split_names("map," * 40_000),
    "brackets": lambda: parse_metric("(" * 40_000),
    "brackets of a metric": lambda: parse_metric("map" + "(" * 40_000),
    "a metric many times": lambda: parse_metric("map," * 40_000),
    "signs": lambda: lambda_objective("+" * 40_000),
    "a sum": lambda: lambda_objective("map+" * 3_000 + "map"),
    "brackets of a method": lambda: find_methods("lightgbm:" + "(" * 40_000),
    "a method many times": lambda: find_methods("svm:map," * 10_000),
    "minus signs": lambda: find_methods(f"svm:map(C={'-' * 3_000}1)"),
    "more minus signs": lambda: find_methods(f"svm:map(C={'-' * 100_000}1)"),
    "brackets of an option": lambda: find_methods(f"svm:map(C={'[' * 100_000})"),
    "brackets of a file": lambda: Config.from_toml("methods = ['" + "(" * 100_000 + "']"),
}


@pytest.mark.parametrize("act", LONG_NAMES.values(), ids=LONG_NAMES)
def test_names_of_any_length_are_read_in_linear_time(act: Callable[[], Any]) -> None:
    """Or refused; minutes of processor time, if it is quadratic."""
    start = time.process_time()
    with contextlib.suppress(ValueError):
        act()
    assert time.process_time() - start < 3


def test_a_header_of_any_number_of_lines_is_read_in_linear_time(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"' + "\n" * 300_000)
    start = time.process_time()
    with pytest.raises(ValueError, match=r"a\.csv: field larger than field limit"):
        read_table(tmp_path / "a.csv")
    assert time.process_time() - start < 3


def test_text_that_expands_is_an_error(tmp_path: Path) -> None:
    """Two kilobytes of Parquet hold a text a thousand times, which would take gigabytes."""
    n = 400
    table = pl.DataFrame({"qid": [1] * n, "label": [1] * n, "score": [1] * n})
    wide = table.with_columns(note=pl.lit("x" * 1_000_000))
    wide.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet: its text expands to more than 200 times"):
        read_table(tmp_path / "a.parquet")


def test_many_columns_are_an_error(tmp_path: Path) -> None:
    """Each takes two kilobytes before its first row is read."""
    (tmp_path / "a.csv").write_text("," * 600_000 + "\n")
    with pytest.raises(ValueError, match=r"a\.csv has more than 500,000 columns"):
        read_table(tmp_path / "a.csv")


def test_a_number_of_many_digits_is_read(tmp_path: Path) -> None:
    """Python refuses to read as many; leading zeros are no part of the number."""
    zeros = "0" * 5_000
    (tmp_path / "a.csv").write_text(f"qid,label,score\n1,1,{zeros}9007199254740994\n")
    assert read_table(tmp_path / "a.csv").scores.tolist() == [2.0**53 + 2]
    (tmp_path / "a.csv").write_text(f"qid,label,score\n1,1,{zeros}9007199254740993\n")
    with pytest.raises(ValueError, match="which a float64 cannot represent"):
        read_table(tmp_path / "a.csv")


NOTES = ["[]", "null", "{", "", '{"columns": null}', '{"columns": [1]}', '{"columns": [{}]}',
         '{"columns": [{"name": ["x"], "pandas_type": "categorical"}]}', "[" * 100_000,
         '{"columns": [{"name": "x"}]}']  # fmt: skip


@pytest.mark.parametrize("text", NOTES)
def test_odd_notes_of_pandas_are_an_error(tmp_path: Path, text: str) -> None:
    table = pl.DataFrame({"qid": [1, 1], "label": [0, 1], "x": [3, 4]})
    table.write_parquet(tmp_path / "a.parquet", metadata={"pandas": text})
    with pytest.raises(ValueError, match="what pandas noted of its columns is damaged"):
        TableFile.read(tmp_path / "a.parquet").is_declared("x")


ODD_TOML = {
    "tables": "grid = " + "{a = " * 3_000 + "1" + "}" * 3_000,
    "lists": "methods = " + "[" * 3_000 + "]" * 3_000,
    "a large rate": "rate = 1" + "0" * 400,
    "many digits": "rounds = " + "9" * 5_000,
}


@pytest.mark.parametrize("text", ODD_TOML.values(), ids=ODD_TOML)
def test_odd_toml_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"nested too deeply|rate must be a number|digits"):
        Config.from_toml(text)


def test_a_module_of_many_parts_is_an_error() -> None:
    with pytest.raises(ValueError, match="cannot be imported as module:Class"):
        find_methods(".".join(["own"] * 20_000) + ":Class")


LONG = "x" * 30_000


@pytest.mark.parametrize("kind", ["a list", "bytes", "an array", "a table", "judgements"])
def test_one_long_identifier_takes_its_own_length(tmp_path: Path, kind: str) -> None:
    """Not as much for each row; the same text is the same identifier, and others are others."""
    names: list[Any] = [LONG, LONG + "y", LONG[:-1], *(f"q{i}" for i in range(3_000))]
    names = [*map(str.encode, names)] if kind == "bytes" else names
    tracemalloc.start()
    try:
        if kind in ("a list", "bytes"):
            found = identifiers(names)
        elif kind == "an array":
            found = identifiers(np.array(names[:100]))
        elif kind == "a table":
            (tmp_path / "a.csv").write_text("qid,label,score\n" + ",1,0\n".join([*names, ""]))
            found = read_table(tmp_path / "a.csv").qid
        else:
            qrels = {name: {"d": 1.0, LONG: 0.0} for name in names}
            found = run_of_dictionaries(qrels, qrels).query_ids
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    again = identifiers(names[:3])
    assert found[:3].tolist() == again.tolist()
    assert {*found[3:100].tolist()} <= {*names[3:]}
    assert len({*found.tolist()}) == len(found)
    assert peak < 60e6  # text of a fixed width would take 360 MB
