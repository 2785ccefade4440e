"""The numbers that the README and the pages print are those of the files in benchmarks/results.

Tables are written from the same files by docs/generate.py, which `test_docs.py` checks.
"""

import inspect
import json
import re
from importlib import import_module
from typing import Any

import pytest
from places import ROOT

import lambdaplus
from lambdaplus import lambda_objective


@pytest.fixture
def sentences(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "docs")
    return import_module("sentences")


def test_sentences_have_the_numbers_of_the_results(sentences: Any) -> None:
    for name in sentences.PAGES:
        page = (ROOT / name).read_text()
        assert page == sentences.rewritten(name, page), "write them anew: make pages"


def test_a_sentence_gets_its_numbers(sentences: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sentences.PAGES, "page", lambda: ["takes .5 to 1.25* times", "| a | +3 |"])
    old = "It takes\n.4 to 2 times of 7.\n| a | -.1* |"
    assert sentences.rewritten("page", old) == "It takes\n.5 to 1.25* times of 7.\n| a | +3 |"
    for wrong in ("It takes long.", f"{old}  It takes .1 to .2 times."):
        with pytest.raises(ValueError, match="page has no single sentence such as 'takes"):
            sentences.rewritten("page", wrong)


def test_the_command_of_the_times_is_the_one_that_ran(sentences: Any) -> None:
    page = (ROOT / "docs/evidence.md").read_text()
    shown = re.findall(r"`python benchmarks/training.py ([^`]*)`", page)
    assert len(shown) == 1
    for name, threads in (("training", 2), ("training-1-thread", 1)):
        ran = sentences.measured(name)["command"]
        for option in re.findall(r"--\w+ \w+", f"{shown[0]} --threads {threads}"):
            assert option in ran
        # The others are defaults of the script.
        script = (ROOT / "benchmarks" / "training.py").read_text().replace("_", "")
        for option, value in re.findall(r"--(\w+) (\w+)", ran):
            if f"--{option} " not in f"{shown[0]} --threads ":
                assert f'"--{option}", type=int, default={value}' in script


def test_the_options_of_the_page_are_those_of_the_function() -> None:
    page = (ROOT / "docs/choose-an-objective.md").read_text()
    shown = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", page, re.M))
    for name, option in inspect.signature(lambda_objective).parameters.items():
        if option.kind is inspect.Parameter.KEYWORD_ONLY:
            assert name in shown
            assert option.default in ("default", None) or str(option.default) in shown[name]


def test_results_are_of_this_version() -> None:
    """A change of defaults raises the minor version; then the numbers are measured again."""
    minor = ".".join(lambdaplus.__version__.split(".")[:2])
    found = {
        file.name: json.loads(file.read_text())["versions"].split(",")[0]
        for file in sorted((ROOT / "benchmarks/results").glob("*.json"))
    }
    assert len(found) > 10
    others = {name: of for name, of in found.items() if not of.startswith(f"lambdaplus {minor}.")}
    assert others == {}
