"""The picture of the README: what an objective gains, beside how long its training takes.

    python docs/figures/gain_and_time.py

writes docs/figures/gain-and-time.svg from the files in benchmarks/results.  Both panels compare
with the same built-in objective, the best one for the metric.  The picture is written by hand and
not by matplotlib, so that its text stays text.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from measured import ERRORS, FRAMEWORKS, measured, table

PICTURE = Path(__file__).with_name("gain-and-time.svg")
METRICS = {"map": "MAP", "auc": "AUC", "ndcg@10": "NDCG@10", "mrr": "MRR"}
TRAINING = "Whole training: queries of about 120 documents"

WORDS = {"binary": "log-loss", "binary:logistic": "log-loss"}

WIDTH, TOP, ROW = 760, 92, 44
GAIN, TIME = (110, 410), (480, 740)  # left and right end of the two panels


class Point(NamedTuple):
    """One objective in one framework, and the built-in one that is best for its metric."""

    metric: str
    framework: str
    own: str
    gain: float
    error: float
    time: float


def times() -> dict[str, float]:
    """Training time of each objective, relative to lambdarank or rank:ndcg."""
    return {row[0]: float(row[2]) for row in table("training-built-in", TRAINING)}


def points() -> list[Point]:
    taken = times()
    found = []
    for metric in METRICS:
        for gain in measured("one-line")["gains"]:
            if (gain["metric"], gain["on"]) != (metric, "mean"):
                continue
            framework, _, own = gain["own"].partition(":")
            name = FRAMEWORKS[framework]
            ours = taken[f"{name}, {gain['ours'].partition(':')[2]}"]
            ratio = ours / taken[f"{name}, {own}"]
            found.append(Point(metric, framework, own, gain["mean"], gain["error"], ratio))
    return found


def best_of(framework: str, found: list[Point]) -> str:
    """Which built-in objectives the points of a framework are compared with, in words."""
    by_own: dict[str, list[str]] = {}
    for p in found:
        if p.framework == framework:
            by_own.setdefault(WORDS.get(p.own, p.own), []).append(METRICS[p.metric])
    each = (f"{own} ({', '.join(metrics)})" for own, metrics in by_own.items())
    return f"Compared in {FRAMEWORKS[framework]} with {', '.join(each)}."


STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 14px }
  .small { font-size: 12px; fill: #57606a }
  .end { text-anchor: end } .middle { text-anchor: middle }
  .grid { stroke: #d0d7de } .axis { stroke: #57606a } .paper { fill: #ffffff }
  .lightgbm { stroke: #0969da; fill: #0969da } .xgboost { stroke: #bc4c00; fill: #bc4c00 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .small { fill: #9ea7b3 }
    .grid { stroke: #30363d } .axis { stroke: #9ea7b3 } .paper { fill: #131416 }
    .lightgbm { stroke: #58a6ff; fill: #58a6ff } .xgboost { stroke: #f0883e; fill: #f0883e }
  }
"""


def picture() -> str:
    found = points()
    longest = max(1.25, *(p.time for p in found))
    reach = max(abs(p.gain) + ERRORS * p.error for p in found)

    def at_gain(value: float) -> float:
        return GAIN[0] + (GAIN[1] - GAIN[0]) * (value + reach) / (2 * reach)

    def at_time(value: float) -> float:
        return TIME[0] + (TIME[1] - TIME[0]) * value / longest

    bottom = TOP + ROW * len(METRICS)
    parts = [
        f'<rect class="paper" width="{WIDTH}" height="{bottom + 84}" rx="6"/>',
        text(GAIN[0], 22, "Gain over the best built-in objective", "title"),
        text(GAIN[0], 40, "four public data sets; lines: 95% intervals", "small"),
        text(TIME[0], 22, "Training time, that objective = 1", "title"),
        text(TIME[0], 40, "one thread, queries of about 120 documents", "small"),
    ]
    for i, (framework, name) in enumerate(FRAMEWORKS.items()):
        parts.append(f'<circle class="{framework}" cx="{GAIN[0] + 5 + 90 * i}" cy="58" r="5"/>')
        parts.append(text(GAIN[0] + 16 + 90 * i, 62, name))
    for value in (-0.02, 0.0, 0.02):
        kind = "grid" if value else "axis"
        parts.append(line(at_gain(value), TOP - 10, at_gain(value), bottom, kind))
        parts.append(
            text(at_gain(value), bottom + 18, f"{value:+.2g}" if value else "0", "small middle")
        )
    for value in (0.0, 0.5, 1.0):
        kind = "axis" if value == 1 else "grid"
        parts.append(line(at_time(value), TOP - 10, at_time(value), bottom, kind))
        parts.append(text(at_time(value), bottom + 18, f"{value:g}", "small middle"))
    for row, (metric, name) in enumerate(METRICS.items()):
        middle = TOP + ROW * (row + 0.5) - 5
        parts.append(text(GAIN[0] - 14, middle + 4, name, "end"))
        for i, p in enumerate(p for p in found if p.metric == metric):
            y = middle + (-8, 8)[i]
            low, high = at_gain(p.gain - ERRORS * p.error), at_gain(p.gain + ERRORS * p.error)
            parts.append(line(low, y, high, y, p.framework, 2))
            x = at_gain(p.gain)
            parts.append(f'<circle class="{p.framework}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
            width = at_time(p.time) - TIME[0]
            parts.append(
                f'<rect class="{p.framework}" x="{TIME[0]}" y="{y - 5:.1f}" width="{width:.1f}" '
                'height="10" stroke="none"/>'
            )
    xendcg = times()["LightGBM, rank_xendcg"]
    below = [
        *(best_of(framework, found) for framework in FRAMEWORKS),
        f"LightGBM's rank_xendcg, its fastest, takes {xendcg:.2f} of the time of lambdarank.",
    ]
    parts += [text(GAIN[0], bottom + 40 + 17 * i, one, "small") for i, one in enumerate(below)]
    described = "; ".join(
        f"{FRAMEWORKS[p.framework]} {METRICS[p.metric]} {short(p.gain)}, time {p.time:.2f}"
        for p in found
    )
    body = "\n  ".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom + 84}" '
        f'viewBox="0 0 {WIDTH} {bottom + 84}" role="img">\n  <title>{described}</title>\n'
        f"  <style>{STYLE}  </style>\n  {body}\n</svg>\n"
    )


def short(value: float) -> str:
    """+.008, as results are printed."""
    return f"{value:+.3f}".replace("0.", ".") if value else "0"


def text(x: float, y: float, words: str, kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{words}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str, width: float = 1) -> str:
    return (
        f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke-width="{width}"/>'
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
