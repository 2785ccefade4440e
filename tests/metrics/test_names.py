"""Names of metrics: printed names can be parsed, and errors suggest valid names."""

import dataclasses
import math
import re
from typing import Any

import numpy as np
import pytest
from drawn_queries import cutoffs
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from textbook_metrics import CASCADE

from lambdaplus import eval_metric, evaluate, lambda_objective
from lambdaplus.metrics import CATALOGUE, Declaration, Parameter, parse_metric
from lambdaplus.metrics.names import MEANT

SUMS = ("ndcg@10 + 0.5*mrr", "map+mrr", "2*map", "mauc(share=1e+2)+map")
each_declared = pytest.mark.parametrize("declaration", CATALOGUE, ids=lambda d: d.name)
ANY_NUMBER = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
CUTOFFS = st.integers(1, 10**6)


def numbers(known: Parameter) -> Any:
    low, high = known.limits
    if math.isinf(low):
        return ANY_NUMBER
    return st.floats(low, high, exclude_min=True, exclude_max=True)


def choices(draw: Any, declaration: Declaration) -> dict[str, Any]:
    """Some of a metric's options, with any value that they may have."""
    return {
        known.name: draw(st.sampled_from(known.choices) if known.choices else numbers(known))
        for known in declaration.parameters
        if draw(st.booleans())
    }


@each_declared
@given(data=st.data())
@examples(100)
def test_a_name_is_one_metric_however_it_is_spelled(declaration, data) -> None:
    options, others = choices(data.draw, declaration), choices(data.draw, declaration)
    cutoff = data.draw(cutoffs(declaration, CUTOFFS))
    metric, other = declaration(cutoff, **options), declaration(cutoff, **others)
    again = parse_metric(str(metric))
    assert (again, hash(again), str(again)) == (metric, hash(metric), str(metric))
    assert ({name: again[name] for name in options}, again.cutoff) == (options, cutoff)
    # Evaluations are kept by name, so that two metrics may not share one.
    assert (str(metric) == str(other)) == (metric == other)
    name = data.draw(st.sampled_from([declaration.name, *declaration.aliases]))
    name = data.draw(st.sampled_from([name, name.upper()]))
    items = data.draw(st.permutations(list(options.items())))
    inside = " , ".join(f"{key} = {value!r}".replace("'", "") for key, value in items)
    text = f" {name}({inside})" + ("" if cutoff is None else f"@{cutoff} ")
    assert parse_metric(text) == metric
    assert parse_metric(text.partition("(")[0] + text.rpartition(")")[2], **options) == metric
    assert parse_metric(metric) == metric
    # A default that is spelled out does not show.
    defaults = {known.name: known.default for known in declaration.parameters}
    assert declaration(cutoff, **defaults) == declaration(cutoff)
    assert str(declaration(cutoff, **defaults)).partition("@")[0] == declaration.name


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("NDCG(gain=linear)@010", "ndcg(gain=linear)@10"),
        ("P_10", "p@10"),  # trec_eval
        ("map_cut_10", "map@10"),
        ("ndcg_cut_5(gain=linear)", "ndcg(gain=linear)@5"),
        ("precision_at_10", "p@10"),
        ("hitrate@5", "success@5"),
        ("Hit-Rate@5", "success@5"),
        ("hits@10", "success@10"),
        ("rankic", "spearman"),
        ("rank_ic", "spearman"),
        ("roc_auc_score", "auc"),
        ("AUROC", "auc"),
        ("average_precision_score", "map"),
        ("mean_average_precision@5", "map@5"),
        ("averageprecision", "map"),
        ("mean_reciprocal_rank@10", "mrr@10"),
        ("c_index", "cindex"),
        ("r_precision", "rprec"),
        ("normalized_gini", "gini"),
        ("enrichment_factor@1%", "lift@1%"),
        ("EF@1%", "lift@1%"),
    ],
)
def test_the_spellings_of_other_tools(theirs: str, ours: str) -> None:
    assert str(parse_metric(theirs)) == ours


LISTS = st.lists(st.floats(0, allow_infinity=False), min_size=1, max_size=6).map(sorted)


@given(gain=LISTS)
@examples(100)
def test_a_gain_for_each_label_prints_and_parses_back(gain: list[float]) -> None:
    metric = parse_metric("ndcg@10", gain=gain)
    assert metric["gain"] == tuple(gain)
    assert hash(parse_metric(str(metric).upper())) == hash(metric)
    zero = [g or -0.0 for g in gain]
    for same in (zero, np.array(gain), " / ".join(map(repr, gain))):
        assert str(parse_metric("ndcg@10", gain=same)) == str(metric)
    total = lambda_objective(f"{metric} + 0.5*map").metric
    assert str(total) == f"{metric}+0.5*map"
    assert total.metrics[0] == metric


@pytest.mark.parametrize(
    ("gain", "message"),
    [
        ([], "gain=[] is not one of exp2, linear, nor a list of numbers, one for each label"),
        ([[0, 1]], "gain=[[0, 1]] is not one of exp2, linear, nor a list"),
        ([0, 10**400], "is not one of exp2, linear, nor a list"),
        ("0/one", "gain='0/one' is not one of exp2, linear, nor a list"),
        *(
            (gain, "the numbers of labels 0, 1, ... must be finite, not negative, and not decrease")
            for gain in ("0/nan", [-1, 0], [0, 3, 1])
        ),
    ],
)
def test_a_list_of_gains_that_makes_no_sense(gain: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_metric("ndcg", gain=gain)


@pytest.mark.parametrize("name", ["p_10", "f_1", "A", "1f", "a-b", ""])
def test_a_name_that_would_not_parse_cannot_be_declared(name: str) -> None:
    with pytest.raises(ValueError, match=f"a metric's name consists of .*got {name!r}"):
        dataclasses.replace(CASCADE, name=name)
    assert dataclasses.replace(CASCADE, name="f2").name == "f2"


def test_names_are_of_one_metric_and_a_metric_of_ones_own_needs_none() -> None:
    spellings = [name for d in CATALOGUE for name in (d.name, *d.aliases)]
    assert len(spellings) == len(set(spellings))
    metrics_of = {(name.replace("_", ""), d) for d in CATALOGUE for name in (d.name, *d.aliases)}
    squeezed = [name for name, _ in metrics_of]
    assert len(squeezed) == len(set(squeezed))
    assert not {*squeezed} & {*MEANT}
    assert CASCADE not in CATALOGUE
    assert parse_metric(CASCADE) == CASCADE()
    assert parse_metric(CASCADE(5)) == CASCADE(5)


NO_NAMES = ["", "@5", "ndcg@", "ndcg(", "ndcg)", "ndcg(gain=linear", "(gain=linear)", "ndcg@5)x("]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, repr(text)) for text in NO_NAMES),
        ("ndgc@10", "did you mean 'ndcg'"),
        ("zzz", "unknown metric 'zzz'; known: auc, "),
        ("cascade", "unknown metric 'cascade'"),
        ("ndcg@0", "a cutoff must be a whole number, at least 1, got 0"),
        ("p@-1%", "the cutoff '-1%' is not an integer, nor a share such as 1%"),
        ("p@0%", "a share of the documents, in per cent, must be a number above 0"),
        ("p@100%", "@100% should be below 100%: leave out the cutoff for all ranks"),
        ("ndcg@2.5", "in 'ndcg@2.5': the cutoff '2.5' is not an integer"),
        ("ndcg@1_0", "the cutoff '1_0' is not an integer"),
        ("ndcg@\N{FULLWIDTH DIGIT ONE}", "the cutoff '\N{FULLWIDTH DIGIT ONE}' is not an integer"),
        ("map(relevant=1_0)", "relevant='1_0' is not a finite number"),
        ("ndcg(gain=0/1_0)", "gain='0/1_0' is not one of exp2, linear, nor a list of numbers"),
        ("ndcg@5(gain=linear)", "the cutoff '5(gain=linear)' is not an integer"),
        ("auc@5", "auc takes no cutoff, got @5"),
        ("map(relevant=nan)", "relevant='nan' is not a finite number"),
        ("map(gain=linear)", "map has no option 'gain'; it has: relevant, divisor"),
        ("p", "p needs a cutoff, such as p@10"),
        ("aucpr", "unknown metric 'aucpr' (did you mean 'map'?)"),
        ("prauc", "unknown metric 'prauc' (did you mean 'map'?)"),
        ("pr_auc@5", "(did you mean 'map'?): average precision, which interpolates nothing; known"),
        ("ic", "unknown metric 'ic' (did you mean 'spearman'?): the rank IC; Pearson's changes"),
        ("average_precision_at_k", "(did you mean 'map@10'?); known: auc,"),
        ("precision_k", "(did you mean 'p@10'?); known"),
        ("ndcg10", "(did you mean 'ndcg@10'?); known"),
        ("recallat20", "(did you mean 'recall@20'?); known"),
        ("ndcg_score", "(did you mean 'ndcg(gain=linear)'?): scikit-learn's gain is the label; k"),
        ("f1_score", "(did you mean 'f1@10'?): the first k count"),
        ("kendalltau", "(did you mean 'concordance'?): without ties, Kendall's tau is twice that"),
        ("ks", "a largest distance is no sum over ranks; scipy.stats.ks_2samp has it"),
        ("partial_auc", "roc_auc_score(max_fpr=) of scikit-learn has it"),
        ("bedroc", "(did you mean 'rbp'?): with persistence=exp(-alpha/n)"),
        ("logloss", "unknown metric 'logloss': it depends on more than the order of the scores"),
        (5, "a metric is a name, such as 'map', or a Declaration, not 5"),
        (lambda_objective("map@5"), ": pass 'map@5'"),
        (eval_metric("map"), "not eval_metric('map'): pass 'map'"),
        ("p_5@10", "in 'p_5@10': 10 and 5 are two cutoffs"),
        ("rbp(persistence=1)", "persistence='1' is not between 0 and 1"),
        ("map(relevant)", "in 'map(relevant)': 'relevant' is not of the form option=value"),
        ("map(relevant=1,relevant=2)", "the option 'relevant' is given twice"),
        *(
            (text, f"{text!r} is a sum, but single metrics are needed here: pass its parts; sums")
            for text in SUMS
        ),
    ],
)
def test_what_is_no_metric_says_what_is_allowed(text: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_metric(text)


def test_the_error_says_where_sums_go() -> None:
    with pytest.raises(ValueError, match=r"sums are supported by lambda_objective, eval_metric"):
        evaluate([0, 1], [1, 2], group=[2], metrics=["map", SUMS[0]])


def test_the_nearest_names_are_names() -> None:
    assert all(parse_metric(meant) for meant, _ in MEANT.values() if meant)
