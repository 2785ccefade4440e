"""Tables 6 to 11: SVMmap against base functions and against other SVMs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lambdaplus.evaluation import Evaluation, Pair, RunComparison, Table, compare_runs

LEVEL = 0.05
OURS = "SVMmap"
BASES = ("Best Func.", "2nd Best", "3rd Best")
OTHERS = ("SVMroc", "SVMacc", "SVMacc2", "SVMacc3", "SVMacc4")

# MAP and W/L on TREC 9, then on TREC 10; ** is p < .05.
INDRI = {
    "SVMmap": ("0.242", "", "0.236", ""),
    "Best Func.": ("0.204", "39/11**", "0.181", "37/13**"),
    "2nd Best": ("0.199", "38/12**", "0.174", "43/7**"),
    "3rd Best": ("0.188", "34/16**", "0.174", "38/12**"),
    "SVMroc": ("0.237", "29/21", "0.234", "24/26"),
    "SVMacc": ("0.147", "47/3**", "0.155", "47/3**"),
    "SVMacc2": ("0.219", "39/11**", "0.207", "43/7**"),
    "SVMacc3": ("0.113", "49/1**", "0.153", "45/5**"),
    "SVMacc4": ("0.155", "48/2**", "0.155", "48/2**"),
}
SUBMISSIONS = {
    "SVMmap": ("0.290", "", "0.287", ""),
    "Best Func.": ("0.280", "28/22", "0.283", "29/21"),
    "2nd Best": ("0.269", "30/20", "0.251", "36/14**"),
    "3rd Best": ("0.266", "30/20", "0.233", "36/14**"),
    "SVMroc": ("0.282", "29/21", "0.278", "35/15**"),
    "SVMacc": ("0.213", "49/1**", "0.222", "49/1**"),
    "SVMacc2": ("0.270", "34/16**", "0.261", "42/8**"),
    "SVMacc3": ("0.133", "50/0**", "0.182", "46/4**"),
    "SVMacc4": ("0.233", "47/3**", "0.238", "46/4**"),
}
WITHOUT_BEST = {
    "SVMmap": ("0.284", "", "0.288", ""),
    "Best Func.": ("0.280", "27/23", "0.283", "31/19"),
    "2nd Best": ("0.269", "30/20", "0.251", "36/14**"),
    "3rd Best": ("0.266", "30/20", "0.233", "35/15**"),
    "SVMroc": ("0.274", "31/19**", "0.272", "38/12**"),
    "SVMacc": ("0.215", "49/1**", "0.211", "50/0**"),
    "SVMacc2": ("0.267", "35/15**", "0.258", "44/6**"),
    "SVMacc3": ("0.133", "50/0**", "0.174", "46/4**"),
    "SVMacc4": ("0.228", "46/4**", "0.234", "45/5**"),
}
Paper = Mapping[str, tuple[str, str, str, str]]


@dataclass(frozen=True, eq=False)
class Against:
    """SVMmap against each other system, query by query.

    Attributes
    ----------
    comparison : RunComparison
        Of the others with SVMmap; its wins are the losses of SVMmap.
    """

    comparison: RunComparison

    @classmethod
    def of(cls, runs: Mapping[str, Evaluation]) -> Against:
        return cls(compare_runs(runs, baseline=OURS, test="wilcoxon", correction="none"))

    def mean(self, name: str) -> float:
        return self.comparison.means["map"][name]

    def pair(self, name: str) -> Pair:
        [found] = [pair for pair in self.comparison.pairs if pair.first == name]
        return found

    def significant(self, name: str) -> bool:
        return self.pair(name).p_value < LEVEL

    def beaten(self, name: str) -> bool:
        """Whether SVMmap is better by MAP, and significantly."""
        return self.mean(OURS) > self.mean(name) and self.significant(name)

    def said(self, name: str) -> str:
        """The comparison with one system in words."""
        pair = self.pair(name)
        p = "p < .0001" if pair.p_value < 0.0001 else f"p = {pair.p_value:.2g}"
        return f"{name} {self.mean(name):.4f} ({pair.losses}/{pair.wins}, {p})"

    def table(self, names: Sequence[str], papers: Mapping[str, Paper]) -> Table:
        """MAP, W/L and p of some systems, with the paper's figures beside."""
        rows = []
        for name in (OURS, *names):
            cells: list[object] = [name, self.mean(name)]
            if name == OURS:
                cells += ["-", "-"]
            else:
                pair = self.pair(name)
                mark = "**" if self.significant(name) else ""
                p = "<.0001" if pair.p_value < 0.0001 else f"{pair.p_value:.4f}"
                cells += [f"{pair.losses}/{pair.wins}{mark}", p]
            for paper in papers.values():
                first, score, second, other = paper[name]
                cells += [f"{first} {score}".strip(), f"{second} {other}".strip()]
            rows.append(cells)
        heads = [f"{what} {year}" for what in papers for year in (9, 10)]
        return Table(
            ("", "MAP", "W/L", "p", *heads),
            rows,
            (
                f"W/L: queries on which SVMmap is better and worse, of "
                f"{self.pair(names[0]).n_queries}. p: two-tailed Wilcoxon signed rank test over "
                "queries; ** below .05. Right: the paper's MAP and W/L on TREC 9 and 10.",
            ),
            narrow=True,
        )
