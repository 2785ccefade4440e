"""The papers' experiments: on a small set, and against figures by hand."""

import math
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from baseline_data import all_pairs
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from places import ROOT
from scipy import stats
from sklearn.svm import LinearSVC
from small_data import graded, letor_folder

from lambdaplus import evaluate, gradients
from lambdaplus.baselines import StructuralSVM
from lambdaplus.baselines.oracles import make_loss
from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import Evaluation
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import parse_metric
from lambdaplus.ranking.sort import rank
from lambdaplus.study import Fitted, Method, Task
from papers import welleck_2016, yue_2007
from papers.__main__ import main
from papers.chakrabarti_2008 import C_GRID, mean_path, panels, rankers
from papers.chakrabarti_2008 import claims as kdd
from papers.chakrabarti_2008.cleaning import Size, clean, prepared
from papers.chakrabarti_2008.fits import AssignmentOracle, path_over_c
from papers.class_auc_svm import ClassAUCSVM, one_list
from papers.drawing import draw
from papers.elsas_2008 import figure_1, table_4, table_5
from papers.every_paper import PAPERS
from papers.paper import Claim, Findings, Paper
from papers.report import by_the_paper, lines, run_paper
from papers.session import Session, versus

PAGES = ROOT / "docs" / "research" / "papers"
SIZES: Mapping[str, dict[str, Any]] = {
    "yue-2007": {"trials": 3, "train": 2, "valid": 2, "test": 2, "thresholds": 3},
    "chakrabarti-2008": {"shapes": {"long": (4, 8, 160)}, "rounds": 3},
    "elsas-2008": {"passes": 2, "seeds": 2, "curve_passes": 3},
    "welleck-2016": {"queries": 12, "rounds": 5},
}


@pytest.fixture(scope="module")
def letor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return letor_folder(tmp_path_factory.mktemp("letor") / "small", folds=2)


# All of it ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Precision loss")
@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_a_second_run_fits_nothing_and_writes_the_same(
    paper: Paper, letor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run_paper(paper, [letor], tmp_path, **SIZES[paper.name])["small"]
    before = (tmp_path / "findings.md").read_text()
    assert not any(claim.evidence.endswith(".") for claim in found.claims)
    others = len(found.claims) > len(by_the_paper(found.claims))
    assert before.count("<details>") == len(found.tables) + others + 1  # and the method
    assert sorted(path.stem for path in tmp_path.glob("small/*.png")) == sorted(found.figures)
    page = (PAGES / f"{paper.name}.md").read_text()
    for claim in found.claims:
        place = ", ".join(filter(None, [claim.place, claim.reading]))
        same = claim.reading and "The same verdicts" in page and place in page.split("verdicts")[-1]
        assert f"\n| {claim.statement} | {place} | " in page or same

    def refuse(*_: Any) -> None:
        raise AssertionError("it was fitted again")

    monkeypatch.setattr("lambdaplus.study.runner.train_and_store", refuse)
    run_paper(paper, [letor], tmp_path, **SIZES[paper.name])
    assert (tmp_path / "findings.md").read_text() == before  # measured times are kept, too


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_the_page_has_the_words_of_the_code(paper: Paper) -> None:
    text = " ".join((PAGES / f"{paper.name}.md").read_text().split())
    for words in (paper.citation, paper.figures, paper.protocol):
        assert words in text


def test_several_sets_stand_side_by_side() -> None:
    paper = Paper("nobody-1999", "Nobody, 1999.", "nothing", {}, "A to B.", "As told.", print)
    said, other = Claim("Table 1", "|A| < B.", None, "1 to 2"), "read otherwise"
    found = {
        name: Findings(
            [
                said._replace(holds=holds),
                said._replace(holds=True, reading=other),
                said._replace(holds=holds, reading="with care"),
            ],
            {},
        )
        for name, holds in (("one", True), ("two", None), ("three", False))
    }
    text = "\n".join(lines(paper, found, "it"))
    # Readings other than the paper's are not counted, and stand below.
    assert "On one, 1 of 1 decidable claims hold; on two, 0 of 0; on three, 0 of 1.\n" in text
    assert text.count("| claim | in the paper, as read | one | two | three |\n") == 2
    row = r"| \|A\| < B. | Table 1 | **yes**: 1 to 2 | open: 1 to 2 | no: 1 to 2 |"
    below = r"| \|A\| < B. | Table 1, read otherwise | **yes**: 1 to 2 | "
    assert text.index(f"\n{row}\n") < text.index("Other readings") < text.index(f"\n{below}")
    assert "reading: Table 1, with care.\n" in text  # it changes no verdict
    assert "A to B. As told." in text


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_papers_runs_the_papers() -> None:
    """Other modules whose names end in a number are none."""
    root = ROOT
    planned = subprocess.run(
        ["make", "--dry-run", "papers"], cwd=root, capture_output=True, text=True, check=True
    )
    [named] = re.findall("^for paper in (.*?); do", planned.stdout, re.MULTILINE)
    assert sorted(named.split()) == sorted(paper.name for paper in PAPERS)


def test_the_command_line_says_what_is_wrong(
    letor: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 0
    listed = capsys.readouterr().out
    assert all(paper.name in listed for paper in PAPERS)
    command = ["yue-2007", str(letor), "--out", str(tmp_path)]
    (tmp_path / "findings.md").write_text("# mine\n")
    for arguments, said in (
        (command, "is not of yue-2007"),
        (["yue-2007", str(letor / "nowhere"), "--out", str(tmp_path / "a")], "nowhere"),
        (["yue-2007", str(letor), str(letor), "--out", str(tmp_path / "a")], "same name"),
    ):
        with pytest.raises(SystemExit):
            main(arguments)
        assert said in capsys.readouterr().err
    assert (tmp_path / "findings.md").read_text() == "# mine\n"


def column(j: int, factor: float = 1.0) -> Method:
    """A ranker by one feature, or with a factor of 0 one that ranks nothing."""

    def train(task: Task) -> Fitted:
        return Fitted(lambda part: factor * part.features[:, j])

    return Method(f"column {j}" if factor else "tied", train, "", "map", random=False)


def by_feature(data: RankingData, j: int, metric: str) -> Evaluation:
    """Evaluation of the ranking by one feature."""
    return evaluate(data.labels, data.features[:, j], qid=data.qid, metrics=metric)


def test_versus_is_wilcoxon_on_the_queries_of_all_folds(tmp_path: Path) -> None:
    made = graded(40)
    data = RankingData(made.features, made.labels * (made.qid > 3), made.qid)
    folds = [Fold(name, data, data, data) for name in ("one", "two")]
    results = Session(None, tmp_path).study(folds, [column(0), column(3)], ["map"])
    pair = versus(results, "column 0", "column 3", "map")
    a, b = (by_feature(data, j, "map").per_query["map"] for j in (0, 3))
    known = ~np.isnan(a)
    assert not known.all()
    twice = np.tile((a - b)[known], 2)
    assert (pair.first, pair.second) == pytest.approx((np.nanmean(a), np.nanmean(b)))
    assert pair.p == pytest.approx(stats.wilcoxon(twice[twice != 0]).pvalue)
    assert (pair.wins, pair.losses) == ((twice > 0).sum(), (twice < 0).sum())
    assert (pair.better, pair.worse) == (True, False)
    assert versus(results, "column 3", "column 0", "map").worse
    expected = np.nan_to_num(a).mean()
    assert welleck_2016.zero_mean(results, "column 0", "map") == pytest.approx(expected)


# Yue 2007 -----------------------------------------------------------------------------------------


def test_yue_base_functions_are_the_best_features_of_the_longest_queries(letor: Path) -> None:
    whole = Session(letor, letor).whole
    queries = yue_2007.chosen_queries(whole, 6)
    assert set(np.unique(queries.labels)) == {0.0, 1.0}
    mixed = [np.unique(whole.labels[whole.qid == q] >= 1).size > 1 for q in np.unique(whole.qid)]
    longest = np.sort(whole.group[np.array(mixed)])[-6:]
    assert sorted(queries.group.tolist()) == longest.tolist()
    by_hand = [by_feature(queries, j, "map")["map"] for j in range(queries.features.shape[1])]
    bases = yue_2007.base_functions(queries)
    assert [by_hand[j] for j in bases] == sorted(by_hand)[::-1]
    assert [values.mean() for values in bases.values()] == pytest.approx(sorted(by_hand)[::-1])
    with pytest.raises(ValueError, match=r"need 99 queries .* has \d+"):
        yue_2007.chosen_queries(whole, 99)
    with pytest.raises(ValueError, match="1 trials of 2 test queries do not test each of 6"):
        yue_2007.run(Session(letor, letor), **{**SIZES["yue-2007"], "trials": 1})


@pytest.mark.parametrize(("shift", "holds"), [(-0.1, True), (0.1, False), (0.0, False)])
def test_yue_verdicts_follow_the_figures(shift: float, holds: bool) -> None:
    base = np.linspace(0.3, 0.6, 8)
    spread = shift + 0.001 * np.arange(8) * np.sign(shift)
    names = (*yue_2007.BASES, *yue_2007.OTHERS)
    by_query = {yue_2007.OURS: base, **dict.fromkeys(names, base + spread)}
    said = {c.statement[:28]: c.holds for c in yue_2007.claims(by_query, by_query, 2.0)}
    assert said["SVMmap has a higher MAP than"] is holds
    assert said["SVMmap is significantly bett"] is holds
    assert said["Virtually all well-performin"] is True
    # No worse is comparable; a significantly better base function is not.
    assert said["Trained without the best bas"] is (shift <= 0)
    assert said["Without the best base functi"] is False  # nothing has degraded
    assert said["Without that feature SVMmap'"] is True
    lower = {**by_query, yue_2007.OURS: base - 0.02}
    said_of_lower = {c.statement[:28]: c.holds for c in yue_2007.claims(by_query, lower, 2.0)}
    assert said_of_lower["Without that feature SVMmap'"] is False
    assert said["Without it SVMmap is signifi"] is holds
    assert said["On TREC submissions SVMmap h"] is None


def test_yue_theorem_1_bounds_the_constraints_that_algorithm_1_adds(letor: Path) -> None:
    train = yue_2007.chosen_queries(Session(letor, letor).whole, 6)
    few, many = (yue_2007.constraints(train, 3, C) for C in (1.0, 30.0))
    assert 6 <= few["constraints"] <= few["bound"]
    assert few["bound"] >= 2 * 6 / yue_2007.EPSILON
    assert many["bound"] > few["bound"]
    assert yue_2007.bound_claim({"1": few, "30": many}).holds is True
    assert yue_2007.bound_claim({"1": {**few, "bound": 1.0}}).holds is False


# Elsas 2008 ---------------------------------------------------------------------------------------


def test_elsas_tests_are_t_tests_seed_by_seed() -> None:
    rng = np.random.default_rng(0)
    fixed = [rng.normal(size=(4, 30))]
    seeded = [fixed[0] + 0.5, fixed[0] + rng.normal(size=(4, 30))]
    passed = table_4.tests({"a": fixed, "b": seeded}, "b", "a")
    p = stats.ttest_rel(seeded[1], fixed[0], axis=1, alternative="greater").pvalue
    assert passed == (1 + (p < 0.05)).tolist()
    both = {("b", "a"): [2, 1, 0, 2]}
    assert table_4.mostly(both, 2, ["b"], ["a"]) == ["b over a by MAP", "b over a by NDCG@10"]


def test_elsas_figure_1_reads_peaks_and_stability_off_the_curves() -> None:
    curves = [np.full(6, 0.5), np.array([0.1, 0.2, 0.4995, 0.4998, 0.5, 0.501])]
    curves.append(np.array([0.5, 0.6, 0.4, 0.3, 0.3, 0.301]))
    assert list(map(figure_1.stable, curves)) == [1, 3, 4]
    assert list(map(figure_1.peak, curves)) == [1, 6, 2]
    of_forms = dict(zip(figure_1.FORMS, curves, strict=True))
    found = figure_1.claims(dict.fromkeys((figure_1.NDCG_10, "map"), of_forms))
    assert {claim.holds for claim in found} == {None}  # of six passes nothing can be said of 500


def test_elsas_pairs_are_all_pairs_of_different_labels(letor: Path) -> None:
    train = Session(letor, letor).folds[0].train
    differences, weight = table_5.explicit_pairs(train)
    pairs = all_pairs(train.labels, train.qid)
    by_hand = train.features[pairs.high] - train.features[pairs.low]
    assert sorted(differences.tolist()) == sorted(by_hand.tolist())
    assert weight.sum() == pytest.approx(pairs.rate.sum())


# Chakrabarti 2008 ---------------------------------------------------------------------------------


def cosine(a: Any, b: Any) -> float:
    long = math.sqrt(sum(x * x for x in a) * sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / long if long else 0.0


@given(st.data())
@examples(100)
def test_cleaning_drops_what_a_look_at_every_pair_drops(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 14))
    row = st.lists(st.integers(0, 2), min_size=3, max_size=3)
    X = data.draw(st.lists(row, min_size=n, max_size=n))
    y = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    qid = sorted(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    limit = data.draw(st.sampled_from([0.6, 0.85, 0.99]))
    keep = [
        any(X[i])
        and not any(
            qid[i] == qid[j] and (y[i] >= 1) != (y[j] >= 1) and cosine(X[i], X[j]) > limit
            for j in range(n)
        )
        for i in range(n)
    ]
    made = RankingData(X, y, qid)
    if not any(keep):
        with pytest.raises(ValueError, match="leaves no document"):
            clean(made, limit)
        return
    left = clean(made, limit)
    np.testing.assert_array_equal(left.features, np.array(X)[keep])
    np.testing.assert_array_equal(left.labels, np.array(y)[keep])
    np.testing.assert_array_equal(left.qid, np.array(qid)[keep])


@pytest.mark.slow
def test_letor_2_ohsumed_is_the_papers(data_folder: Path) -> None:
    from small_data import folds_of

    fold = folds_of(data_folder, "ohsumed-letor2")[0]
    sizes = [Size.of(part) for part in (fold.train, fold.valid, fold.test)]
    total = Size(*map(sum, zip(*sizes, strict=True)))
    assert (total.queries, total.relevant, total.irrelevant) == (106, 4837, 11303)  # section 4.1


def small(n_queries: int = 20) -> RankingData:
    return prepared(RankingData(*graded(n_queries).ranking))


def test_slack_at_zero_is_the_worst_loss() -> None:
    data = small()
    size = Size.of(data)
    [point] = path_over_c(data, StructuralSVM("auc"), (1.0,))
    assert point["slack_at_zero"] == pytest.approx(size.mixed / data.n_queries, rel=1e-9)


@pytest.mark.parametrize("loss", ["auc", "map"])
def test_on_a_path_shares_fall_and_norms_rise(loss: str) -> None:
    path = path_over_c(small(), StructuralSVM(loss, tol=1e-6), (1.0, 10.0, 100.0))
    assert [point["share"] for point in path] == sorted((p["share"] for p in path), reverse=True)
    assert [point["norm"] for point in path] == sorted(point["norm"] for point in path)
    assert path[0]["norm"] < path[-1]["norm"]


@pytest.mark.parametrize("reach", [3.0, 30.0])
def test_assignment_finds_rankings_as_bad_as_merging_does(reach: float) -> None:
    random, data = np.random.default_rng(0), small()
    queries, metric = Queries(data.labels, group=data.group), parse_metric("ndcg@10")
    merged = make_loss(metric, queries, feature_map="dorm", decay=int(reach)).oracle
    starts = np.cumsum(data.group) - data.group
    for scale in (0.01, 0.3, 3.0):
        scores = scale * random.normal(size=data.labels.size)
        worst = []
        for oracle in (merged, AssignmentOracle(metric, queries, reach)):
            constraint = oracle(rank(queries, scores))
            moved = np.add.reduceat(constraint.coefficient * scores, starts)
            worst.append(constraint.loss + moved)
        np.testing.assert_allclose(worst[0], worst[1], rtol=1e-12, atol=1e-12)
        assert worst[0].max() > 0


def test_path_claims() -> None:
    def path(slack: float, norm: float = 1.0, share: float = 0.9) -> list[dict[str, float]]:
        zero = {"slack_at_zero": 1.0, "moved": float(norm > 0)}
        return [{"C": 1.0, "slack": slack, "share": share, "norm": norm, **zero}]

    paths = {
        "svm:auc": path(0.5, share=0.5), "svm:map": path(0.9), "svm:ndcg@10": path(0.95),
        "svm:mrr": path(0.4), "svm:dorm": path(0.4), "svm:dorm-sorted": path(0.4),
    }  # fmt: skip
    assert [claim.holds for claim in kdd.path_claims(paths)] == [True] * 5
    for name, changed, wrong in (
        ("svm:auc", path(0.91, share=0.5), 0),
        ("svm:dorm", path(1.0), 1),
        ("svm:dorm-sorted", path(1.0), 2),
        ("svm:mrr", path(1.0), 3),
        ("svm:map", path(0.9, norm=0.0), 4),
        ("svm:ndcg@10", path(0.95, share=0.4), 4),
    ):
        verdicts = [number != wrong for number in range(5)]
        found = kdd.path_claims({**paths, name: changed})
        assert [claim.holds for claim in found] == verdicts, name


def test_stopping_by_epsilon_leaves_a_gap_that_an_optimum_does_not() -> None:
    data, Cs = small(), (1.0, 100.0)
    stopped = path_over_c(data, StructuralSVM("map", epsilon=0.3), Cs)
    optima = path_over_c(data, StructuralSVM("map", tol=1e-6), Cs)
    for one, other in zip(stopped, optima, strict=True):
        assert one["slack_at_zero"] == pytest.approx(other["slack_at_zero"], rel=1e-9)
        assert one["share"] >= other["share"] - 1e-6
    mean = mean_path([stopped, [{**point, "norm": 0.0} for point in stopped]])
    assert [point["moved"] for point in mean] == [0.5, 0.5]
    paths = dict.fromkeys([m.name for m in rankers()], mean_path([stopped * 4])[: len(C_GRID)])
    drawn = panels(paths, "epsilon .3")
    assert drawn[2].lines["DORM"][1][-1] == 1.0
    assert len(draw(drawn).axes) == 3


def test_time_claims() -> None:
    def times(assigned: float, seconds: float, trees: float = 200.0, norm: float = 1.0) -> Any:
        one = {"solver": seconds, "oracle": 1.0, "passes": 10.0, "norm": norm, "seconds": seconds}
        longer = {"seconds": 1.01 * assigned, "solver": 1.01 * assigned, "oracle": assigned}
        return {
            kdd.NDCG: one, kdd.MRR: one, kdd.ASSIGNED: one | longer,
            kdd.MERGED: one | {"seconds": 2.0, "solver": 2.0, "oracle": 1.9},
            kdd.MCRANK: {"seconds": trees, "passes": 30.0},
        }  # fmt: skip

    for small, large, verdicts in (
        (times(3.0, 1.05), times(30.0, 1.05), [True, None, True, True]),
        (times(1.5, 1.05), times(30.0, 1.05), [False, None, True, True]),
        (times(3.0, 1.05, norm=0.0), times(30.0, 1.05), [None, None, True, True]),  # w = 0
        (times(3.0, 1.5), times(30.0, 1.05), [True, None, False, True]),
        (times(3.0, 1.05, 9.0), times(30.0, 1.05, 90.0), [True, None, True, False]),
    ):
        of = {"small": small, "large": large}
        found = kdd.time_claims(of, {"small": 100, "large": 200})
        assert [claim.holds for claim in found] == verdicts


def test_own_criterion_counts_the_best_of_each_column() -> None:
    names = kdd.CRITERIA
    means = {f"svm:{n}": {m: 0.5 + 0.1 * (m == n) for m in names} for n in names}
    results: Any = SimpleNamespace(
        methods={name: SimpleNamespace(criterion=name[4:]) for name in means},
        mean=lambda method, metric: means[method][metric],
    )
    assert kdd.own_criterion(results).holds is False
    means["svm:map"] = dict.fromkeys(names, 0.9)
    assert kdd.own_criterion(results).holds is True
    means["svm:map"] = {**dict.fromkeys(names, 0.4), "mrr": 0.7}
    assert kdd.own_criterion(results).evidence == "1 of 3 criteria"
    much, little = {"svm:auc": 0.8, "svm:map": 0.7}, {"svm:auc": 0.6, "svm:map": 0.55}
    assert kdd.averaged_pairs(much, little).holds is True
    assert kdd.averaged_pairs(much, {**little, "svm:map": 0.65}).holds is False


def test_no_verdict_against_a_model_that_ranks_nothing(tmp_path: Path) -> None:
    data = small(10)
    folds = [Fold(name, data, data, data) for name in ("one", "two")]
    methods = [column(0, 0.0), column(0), column(3)]
    results = Session(None, tmp_path).study(folds, methods, ["auc", "map"])
    against = kdd.against(results, "", "", "column 0", "tied", "map")
    assert against.holds is None
    assert against.evidence.endswith("w = 0 on 2 of 2 folds (tied)")
    assert kdd.against(results, "", "", "column 0", "column 3", "map").holds is not None
    assert [kdd.w_is_zero(results, method) for method in results.methods] == [2, 0, 0]
    rounded: Any = SimpleNamespace(values=results.values.with_columns(value=np.nextafter(0.5, 0)))
    assert kdd.w_is_zero(rounded, "tied") == 2


def test_more_rounds_gain_nothing_if_the_best_is_early() -> None:
    assert kdd.rounds_claim([0.3, 0.5, 0.4], 2).holds is True
    assert kdd.rounds_claim([0.3, 0.4, 0.5], 2).holds is False


# Welleck 2016 -------------------------------------------------------------------------------------


def test_lambdamart_of_areas_is_that_of_the_paper() -> None:
    """Swap deltas alone, without damping and log-loss, whatever our defaults are."""
    data = graded(40)
    scores = np.random.default_rng(0).normal(size=data.labels.size)
    every = [*welleck_2016.graded_methods(), *welleck_2016.binary_methods()]
    targets: dict[str, Any] = {method.name: method.target for method in every}
    for name, labels in (
        (welleck_2016.TREES, data.labels),
        (welleck_2016.BINARY_TREES, data.labels >= 1),
    ):
        expected = gradients(labels, scores, metric=str(targets[name].metric), group=data.sizes)
        found = targets[name].derivatives(Queries(labels, group=data.sizes), scores)
        assert_allclose(found, expected)


def test_an_area_is_higher_if_it_is_on_every_fold(tmp_path: Path) -> None:
    parts = [RankingData(*graded(40).queries(q, q + 20).ranking) for q in (0, 20)]
    folds = [Fold(str(i), part, part, part) for i, part in enumerate(parts)]
    area = welleck_2016.AREA
    results = Session(None, tmp_path).study(folds, [column(0), column(3)], [area])
    values = [[by_feature(part, j, area)[area] for part in parts] for j in (0, 3)]
    assert min(values[0]) > max(values[1])
    found = welleck_2016.area_of(results, "column 0", "column 3", area)
    assert found.gain == pytest.approx(np.mean(values[0]) - np.mean(values[1]))
    assert not found.similar
    assert str(found).endswith("higher on 2 of 2 folds")
    assert welleck_2016.Areas(np.array([0.5, 0.6]), np.array([0.6, 0.5])).similar
    assert len(np.unique(one_list(parts[0]).qid)) == 1


def test_class_claims_look_at_the_commonest_and_the_rarest_class() -> None:
    shares = {1: 0.3, 2: 0.6, 3: 0.1}
    one, other = np.array([0.6, 0.5, 0.6]), np.array([0.5, 0.55, 0.5])  # not on every fold
    higher, lower = welleck_2016.Areas(one, other), welleck_2016.Areas(other, one)
    for pairs, verdicts in (
        ({1: lower, 2: higher, 3: lower}, [True, True]),
        ({1: higher, 2: lower, 3: higher}, [False, False]),
    ):
        assert [c.holds for c in welleck_2016.class_claims(pairs, shares)] == verdicts
    data = RankingData(np.zeros((6, 1)), [0, 1, 1, 2, 1, 0], [1] * 6)
    assert welleck_2016.class_shares([Fold("one", data, data, data)]) == {1: 0.75, 2: 0.25}


def test_times_are_scaled_to_the_papers_folds() -> None:
    trees = {"seconds": 3600.0, "documents": 1e5, "queries": 6000.0, "converged": 1.0}
    svm = {**trees, "seconds": 11.9 * 3600}

    for of_trees, of_svm, verdicts in (
        ({}, {}, [False, False]),  # five hours
        ({"seconds": 3599.0}, {}, [True, False]),
        ({}, {"queries": 5900.0}, [False, True]),
        ({}, {"converged": 0.0, "gap": 0.01, "passes": 300.0}, [False, None]),
    ):
        claims = welleck_2016.time_claims({**trees, **of_trees}, {**svm, **of_svm})
        assert [claim.holds for claim in claims] == verdicts


def test_svm_time_says_what_did_not_converge() -> None:
    took = welleck_2016.svm_time(8, 1.0)
    assert took["converged"] == 1.0
    assert took["gap"] <= 1e-3
    assert (took["queries"], took["passes"] >= 1) == (8, True)
    assert took["documents"] == welleck_2016.mslr_like(8).train.labels.size
    assert welleck_2016.svm_time(8, 1.0, max_passes=2)["converged"] == 0.0


@pytest.mark.parametrize("c", [0.01, 1.0])
def test_c_of_svm_perf_is_a_25th_of_that_of_the_class_auc_svm(c: float) -> None:
    """SVM-Perf has 1/2 |v|^2 + c times 100 times the mean of 1 - v . (x_i - x_j) over pairs."""
    data = graded(12)
    X, y = data.features, data.labels >= 2
    pairs = (X[y][:, None] - X[~y][None]).reshape(-1, X.shape[1])
    C = welleck_2016.OF_SVM_PERF * c
    v = 2 * ClassAUCSVM(C, tol=1e-6, max_passes=5000).fit(X, y.astype(float)).coef_

    def perf(v: Any) -> float:
        return float(v @ v / 2 + 100 * c * np.maximum(0, 1 - pairs @ v).mean())

    sign = np.where(np.arange(len(pairs)) % 2, 1.0, -1.0)
    weight = 100 * c / len(pairs)
    svm = LinearSVC(loss="hinge", C=weight, fit_intercept=False, tol=1e-6, max_iter=100_000)
    other = svm.fit(pairs * sign[:, None], sign).coef_[0]
    assert perf(v) == pytest.approx(perf(other), rel=1e-4)


@pytest.mark.parametrize("labels", [[0, 1, 2], [0, 2, 5]])
def test_class_auc_svm_is_the_sum_of_the_svms_of_its_classes(labels: list[int]) -> None:
    data = graded(30)
    y = np.array(labels, float)[np.minimum(data.labels, 2).astype(int)]
    model = ClassAUCSVM(C=100.0).fit(data.features, y, qid=data.qid)
    assert list(model.svms_) == labels[1:]
    each = [StructuralSVM("auc", C=100.0).fit(data.features, y == c, data.qid) for c in labels[1:]]
    expected = sum(c * svm.coef_ for c, svm in zip(labels[1:], each, strict=True))
    assert_allclose(model.coef_, expected)
