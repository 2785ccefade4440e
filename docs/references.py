"""The generated parts of the references: metrics, methods, commands, conventions and examples."""

from __future__ import annotations

import ast
import inspect
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from formulas import BIBLIOGRAPHY, FORMULAS, NOTATION, SINCE, WORKED

import lambdaplus
from lambdaplus.evaluation import Table, evaluate
from lambdaplus.evaluation.conventions import CONVENTIONS, Convention, Rule
from lambdaplus.metrics import CATALOGUE, Declaration
from lambdaplus.metrics.parameters import Parameter
from lambdaplus.study import METHODS
from lambdaplus.study.search_spaces import LIGHTGBM, XGBOOST

ROOT = Path(__file__).parents[1]
TIES = {
    None: "mean over orders; ERR: worst",
    "expected": "mean over orders",
    "stable": "row order",
    "together": "one step",
    "docno": "document number, descending",
}


def metrics() -> str:
    """A table of all metrics, then an entry for each of them."""
    rows = [(f"[`{d}`](#{d.name})", d.title, _cost(d)) for d in CATALOGUE]
    entries = map(_entry, CATALOGUE)
    return "\n\n".join(
        [_table(("name", "description", "as an objective"), rows), NOTATION, *entries]
    )


def _cost(declared: Declaration) -> str:
    """The cost of its objective for n documents in L classes."""
    if declared.binary:
        return "one sweep, O(n)"
    trees = declared.form.labels or declared.name == "concordance"
    if trees or not declared.form.potentials_by_classes:
        return "a tree of labels, O(n log L)"
    return "a sweep for each pair of classes, O(n L^2)"


def _entry(declared: Declaration) -> str:
    """Names, formula, options and source of one metric."""
    formula, where = FORMULAS.get(declared.name, ("", ""))
    facts = [f"**{declared.title}.**"]
    if declared.aliases:
        facts.append(f"Also {_listed(declared.aliases)}.")
    if declared.name in SINCE:
        facts.append(f"New in version {SINCE[declared.name]}.")
    parts = [f"### `{declared.name}`", " ".join(facts)]
    if formula:
        parts += [f"$$\n{formula}\n$$", where]
    if declared.name in WORKED:
        parts.append(_worked(*WORKED[declared.name]))
    objective = f"As an objective: {_cost(declared)}."
    if declared.surrogate:
        objective += f" Its surrogate is `{declared.surrogate}`."
    # Publications have a year, and are listed; other sources are tools and definitions.
    link = "[Source](#sources)" if re.search(r"\b\d{4}\b", declared.source) else "Source"
    parts += [objective, f"{link}: {declared.source}."]
    if declared.parameters:
        rows = [(f"`{p.name}`", f"`{p.default}`", _allowed(p), p.help) for p in declared.parameters]
        parts.append(_table(("option", "default", "allowed values", "description"), rows))
    return "\n\n".join(part for part in parts if part)


def _worked(labels: tuple[int, ...], metric: str, sum_of_ranks: str) -> str:
    """The value of one ranking, as a calculation by hand that gives the same."""
    scores = range(len(labels), 0, -1)
    value = evaluate(labels, scores, group=[len(labels)], metrics=metric)[metric]
    if not math.isclose(value, eval(sum_of_ranks, {"log2": math.log2, "min": min})):
        raise ValueError(f"{metric} of {labels} is {value}, not {sum_of_ranks}")
    ranked = ", ".join(map(str, labels))
    return f"With the labels {ranked} from rank 1, `{metric}` is `{sum_of_ranks}` = {value:.4g}."


def sources() -> str:
    """A list of the publications that metrics come from."""
    return "\n".join(f"- {source}" for source in BIBLIOGRAPHY)


def _allowed(option: Parameter) -> str:
    allowed = " or ".join(f"`{choice}`" for choice in option.choices) or "a number"
    return allowed + (" or a number for each label from 0" if option.per_label else "")


def surrogates() -> str:
    """Which metric weights the pairs in the training of others."""
    found: dict[str, list[str]] = {}
    for declared in CATALOGUE:
        if declared.surrogate:
            found.setdefault(declared.surrogate, []).append(declared.name)
    rows = [(_listed(names), f"`{surrogate}`") for surrogate, names in found.items()]
    return _table(("metrics", "surrogate"), rows)


def public() -> str:
    """What can be imported from ``lambdaplus`` itself, but for the shorthands of metrics."""
    shorthand = re.compile(r"(lambda|eval)_(?!objective|metric)")
    rows = [
        (f"`{name}`", (inspect.getdoc(getattr(lambdaplus, name)) or "").partition("\n\n")[0])
        for name in sorted(lambdaplus.__all__, key=str.lower)
        if not shorthand.match(name)
    ]
    return _table(("name", "what it is"), [(name, _as_markdown(text)) for name, text in rows])


def _as_markdown(text: str) -> str:
    """A line of a docstring: names as code, without the modules that are hidden there."""
    return re.sub(r"(?<!`)`~?(?:\w+\.)*(\w+)`", r"`\1`", " ".join(text.split()).replace("``", "`"))


def methods() -> str:
    """The methods of ``lambdaplus compare``."""
    rows = [(f"`{m.name}`", _trained(m), _tried(m)) for m in METHODS]
    return _table(("method", "what is trained", "tried on validation data"), rows)


def _trained(method: Any) -> str:
    made = method.target
    if not isinstance(made, str):
        made = f"lambda_objective('{made.metric}')"
    fixed = "".join(f", {name}={value!r}" for name, value in method.fixed.items())
    return f"`{made.removeprefix('lambdaplus.baselines:')}{fixed}`"


def _tried(method: Any) -> str:
    grid = "; ".join(f"{name}: {', '.join(map(str, v))}" for name, v in method.grid.items())
    return grid or "-"


def ranges() -> str:
    """What the random search of ``lambdaplus compare --trials`` draws from."""
    families = {"lightgbm": LIGHTGBM, "xgboost": XGBOOST}
    drawn: dict[Any, list[str]] = {
        (name, values, family): [f"all of {family}"]
        for family, trees in families.items()
        for name, values in trees.items()
    }
    for method in METHODS:
        for name, values in method.space.items():
            if name not in families[method.family]:
                ours = ":lambda_" in method.name
                who = f"{method.family}:lambda_*" if ours else method.name
                drawn.setdefault((name, values, ""), []).append(f"`{who}`")
    rows = [
        (f"`{name}`", _in_words(values), ", ".join(dict.fromkeys(who)))
        for (name, values, _), who in drawn.items()
    ]
    return _table(("parameter", "drawn from", "methods"), rows)


def _in_words(values: Any) -> str:
    if isinstance(values, tuple):
        return _listed(values)
    kind = "integers " if values.integer else ""
    return f"{kind}{values.low:g} to {values.high:g}{', log scale' if values.log else ''}"


def commands(program: str) -> str:
    """A section for each command of a program, by typer."""
    made = subprocess.run(
        [sys.executable, "-m", "typer", "lambdaplus.cli", "utils", "docs", "--name", program],
        capture_output=True,
        text=True,
        check=True,
    )
    _, heading, sections = made.stdout.partition("\n## ")
    return (heading + sections).strip().replace("&#x27;", "'")


def conventions() -> str:
    """The rules of each convention; metrics with the same rules share a row."""
    rows = []
    for convention in CONVENTIONS.values():
        name, tool = f"`{convention.name}`", convention.tool.split(":")[0]
        for of, rule in _rules(convention):
            empty = "left out" if rule.empty == "skip" else str(rule.empty)
            options = ", ".join(f"`{key}={value}`" for key, value in rule.options.items())
            rows.append((name, tool, of, TIES[rule.ties], empty, options))
            name = tool = ""
    return _table(("`convention=`", "tool", "metrics", "ties", "no value", "other options"), rows)


def _rules(convention: Convention) -> list[tuple[str, Rule]]:
    if not convention.metrics:
        return [("all", convention.otherwise)]
    found: list[tuple[str, Rule]] = []
    for name, rule in convention.metrics.items():
        if found and found[-1][1] == rule:
            found[-1] = f"{found[-1][0]}, `{name}`", rule
        else:
            found.append((f"`{name}`", rule))
    return found


def examples() -> str:
    """A section for each notebook and program of the folder examples: what it shows and prints."""
    folder = ROOT / "examples"
    made = [
        *map(_notebook, sorted(folder.glob("*.ipynb"))),
        *map(_example, sorted(folder.glob("*.py"))),
    ]
    return "\n\n".join(made)


def _notebook(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    title = cells[0]["source"][0].strip().removeprefix("# ")
    return (
        f"## {title}\n\nThe page [{title}](../{path.stem}.md) as a notebook: "
        f"[`{path.name}`](../../examples/{path.name})"
    )


def _example(program: Path) -> str:
    described = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""
    title = program.stem.replace("_", " ")
    parts = [
        f"## {title[0].upper()}{title[1:]}",
        described.partition("\n\n")[0].replace("\n", " "),
        f"[`{program.name}`](../../examples/{program.name})",
    ]
    shown = ROOT / "docs" / "figures" / "examples" / program.stem
    if shown.with_suffix(".svg").exists():
        parts.append(f"![The numbers of {program.name}](../figures/examples/{shown.name}.svg)")
    if shown.with_suffix(".txt").exists():
        printed = shown.with_suffix(".txt").read_text(encoding="utf-8").rstrip()
        parts.append(f"```text\n{printed}\n```")
    return "\n\n".join(parts)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return Table(columns, list(rows)).to_markdown()


KINDS: dict[str, Callable[..., str]] = {
    made.__name__: made
    for made in (
        metrics,
        surrogates,
        sources,
        public,
        methods,
        ranges,
        commands,
        conventions,
        examples,
    )
}
