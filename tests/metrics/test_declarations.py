"""User-defined metrics, as in the documentation: values, objective, pooled lists.

What a form cannot do is refused in words, and so is a declaration whose rules return nonsense.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import lambdaplus as lp
from lambdaplus.metrics import Cascade, CountAbove, Declaration, Gains, LabelCounts
from lambdaplus.metrics.catalogue import AUC, MAP
from lambdaplus.metrics.parameters import RELEVANT, Parameter

LABELS = [0.0, 2.0, 1.0, 0.0, 1.0, 0.0, 2.0, 0.0]
SCORES = [0.4, 0.1, 0.9, 0.2, 0.6, 0.5, 0.8, 0.3]


def one(counts: LabelCounts) -> Any:
    return np.ones_like(counts.size)


def label(counts: LabelCounts) -> Any:
    return counts.label


def halved(counts: LabelCounts) -> Any:
    return counts.label / 4


def by_root(metric: Any, ranks: Any) -> Any:
    return ranks**-0.5


def declared(name: str, **parts: Any) -> Declaration:
    given: dict[str, Any] = {"binary": False, "discount": by_root, "gain": label, "normalizer": one}
    return Declaration(name=name, title="of a test", source="here", **{**given, **parts})


GAINS = declared("own_gains")
TWICE = CountAbove(lambda c: c.relevant * 2.0, lambda c: c.relevant * 1.0)
ABOVE = declared("own_counts", binary=True, gain=lambda c: c.relevant * 1.0, form=TWICE)
HIGHER = declared("own_order", gain=lambda c: 0 * c.label,
                  form=CountAbove(lambda c: 1 + 0 * c.label, label, "higher"))  # fmt: skip


def of_gains(ranked: list[float]) -> float:
    return sum(y / r**0.5 for r, y in enumerate(ranked, 1))


def of_counts(ranked: list[float]) -> float:
    hits, total = 0, 0.0
    for r, y in enumerate(ranked, 1):
        if y >= 1:
            total += (1 + 2 * hits) / r**0.5
            hits += 1
    return total


def of_order(ranked: list[float]) -> float:
    return sum(sum(above for above in ranked[: r - 1] if above > y) / r**0.5
               for r, y in enumerate(ranked, 1))  # fmt: skip


OWN = [(GAINS, of_gains), (ABOVE, of_counts), (HIGHER, of_order)]
each_form = pytest.mark.parametrize(("own", "by_hand"), OWN, ids=[d.name for d, _ in OWN])


@each_form
def test_an_own_metric_has_its_value_by_hand_and_trains(own: Declaration, by_hand: Any) -> None:
    ranked = np.array(LABELS)[np.argsort(np.negative(SCORES))].tolist()
    found = lp.evaluate(LABELS, SCORES, group=[8], metrics=own)
    assert found[own.name] == pytest.approx(by_hand(ranked), rel=1e-12)
    gradient, hessian = lp.lambda_objective(own)(LABELS, SCORES, None, [8])
    assert np.abs(gradient).sum() > 0
    assert (hessian >= 0).all()
    assert abs(gradient.sum()) < 1e-5


def test_a_binary_metric_has_the_option_relevant_without_declaring_it() -> None:
    graded = lp.evaluate(LABELS, SCORES, group=[8], metrics=[ABOVE(relevant=2)])
    ranked = [y - 1 for y in np.array(LABELS)[np.argsort(np.negative(SCORES))]]
    assert graded["own_counts(relevant=2)"] == pytest.approx(of_counts(ranked))


# One data set without queries, with weights ------------------------------------------------------


def test_pooled_sums_of_gains_take_ties_as_steps_and_weights_as_copies() -> None:
    """AUC under another name, and a discounted gain at the last rank of each step."""
    mine = replace(AUC, name="own_auc", aliases=())
    last = declared("own_last", binary=True, gain=lambda c: c.relevant * 1.0, pooled="last")
    random = np.random.default_rng(0)
    labels, scores = random.integers(0, 2, 60), random.integers(0, 9, 60) / 3
    weight = random.integers(1, 4, 60).astype(float)
    found = lp.evaluate(labels, scores, weight=weight, metrics=[mine, last], one_group=True)
    assert found["own_auc"] == pytest.approx(roc_auc_score(labels, scores, sample_weight=weight))
    step = [weight[scores >= s].sum() for s in scores]
    assert found["own_last"] == pytest.approx(np.sum(weight * labels / np.sqrt(step)))


def test_pooled_counts_are_those_of_the_declaration_and_not_average_precision() -> None:
    """The rule of `CountAbove`: here twice the rows above, not counting the row itself."""
    mine = replace(MAP, name="own_ap", aliases=())
    other = replace(ABOVE, pooled="last")
    random = np.random.default_rng(1)
    labels, scores = random.integers(0, 2, 50), random.permutation(50) / 7
    found = lp.evaluate(labels, scores, metrics=[mine, other], one_group=True)
    assert found["own_ap"] == pytest.approx(average_precision_score(labels, scores))
    ranked = labels[np.argsort(-scores)].tolist()
    assert found["own_counts"] == pytest.approx(of_counts(ranked))
    twice = np.repeat(np.arange(50), 2)
    repeated = lp.evaluate(labels[twice], scores[twice], metrics=[other], one_group=True)
    weighted = lp.evaluate(labels, scores, weight=np.full(50, 2.0), metrics=[other], one_group=True)
    assert weighted["own_counts"] == pytest.approx(repeated["own_counts"])


def test_metrics_that_a_better_document_can_lower_have_no_gradient() -> None:
    """Of weighted rows, and where the better of two relevant documents ends the search earlier."""
    objective = lp.lambda_objective(replace(ABOVE, pooled="last"))
    assert np.abs(objective(LABELS, SCORES)[0]).sum() > 0
    with pytest.raises(ValueError, match=r"own_counts has swap deltas .* leave out the weights"):
        objective(LABELS, SCORES, np.ones(8))
    ends = declared("ends", gain=lambda c: 1.0 * (c.label > 0), form=Cascade(halved))
    for scores in (LABELS, np.negative(LABELS), SCORES):  # concordant pairs, discordant, and both
        for all_pairs in (False, True):
            with pytest.raises(
                ValueError, match=r"ends has swap deltas of both signs, .* surrogate"
            ):
                lp.gradients(LABELS, scores, group=[8], metric=ends, all_pairs=all_pairs)
    assert np.abs(lp.lambda_objective(ends, surrogate="ndcg")(LABELS, SCORES, None, [8])[0]).any()


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"name": "Own-1"}, "a metric's name consists of lower case letters"),
        ({"form": "cascade"}, "form must be one of Cascade, CountAbove, Gains"),
        ({"form": Gains(one), "pooled": "last"}, "pooled='last' needs the form Gains"),
        ({"form": HIGHER.form, "pooled": "last"}, "pooled='last' needs the form Gains"),
        ({"form": ABOVE.form, "pooled": "middle"}, "pooled='middle' needs the form Gains"),
        ({"cutoff": "never"}, "cutoff='never' is not one of optional, required, no"),
        ({"correlation": "x"}, "correlation='x' is neither True nor False"),
        ({"parameters": ("x",)}, "'x' in parameters is no Parameter"),
        ({"parameters": RELEVANT}, "parameters must be a tuple, got Parameter"),
        ({"aliases": "mine"}, "aliases must be a tuple, got 'mine'"),
        ({"aliases": (3,)}, "alias must be text, got 3"),
        ({"surrogate": None}, "surrogate must be text, got None"),
        ({"bounds": 1.0}, "own: bounds must be two numbers, got 1.0"),
        ({"bounds": (0.0,)}, r"own: bounds must be two numbers, got \(0.0,\)"),
        ({"bounds": (1.0, 1.0)}, "own: bounds must be the lowest and the highest value"),
        ({"bounds": (0.0, np.inf)}, "own: a bound must be a number .*, got inf"),
        ({"bounds": (np.nan, 1.0)}, "own: a bound must be a number .*, got nan"),
        ({"bounds": ("0", "1")}, "own: a bound must be a number .*, got '0'"),
        *(
            ({name: 3}, f"{name} must be a function, got 3")
            for name in ("discount", "gain", "normalizer", "offset")
        ),
    ],
)
def test_a_declaration_checks_itself(parts: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        declared(**{"name": "own", **parts})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: CountAbove(label, label, "anyy"), "relation='anyy' is not one of any, higher"),
        (lambda: Cascade(3), "stop must be a function, got 3"),
        (lambda: Gains(3), "ranks must be a function, got 3"),
        (lambda: CountAbove(3, label), "row must be a function, got 3"),
        (lambda: CountAbove(label, label, labels=3), "labels must be a function, got 3"),
        (lambda: Parameter("slope", "steep", "text"), "slope='steep' is not a finite number"),
        (lambda: Parameter("mode", "c", "other", ("a", "b")), "mode='c' is not one of a, b"),
        (lambda: GAINS("ten"), "the cutoff 'ten' is not an integer, nor a share such as 1%"),
        (lambda: GAINS(True), "a cutoff must be a whole number, at least 1, got True"),
    ],
)
def test_parts_of_a_declaration_check_themselves(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_a_rule_cannot_change_what_other_rules_see() -> None:
    for parts in ({"gain": lambda c: c.label.fill(1)}, {"discount": lambda m, r: r.fill(1)}):
        with pytest.raises(ValueError, match="read-only"):
            lp.evaluate(LABELS, SCORES, group=[8], metrics=declared("own", **parts))


AGAINST = r".* so ranking by label does not give the highest value, .* reverse the order"


@pytest.mark.parametrize(
    ("part", "rule", "words"),
    [
        ("gain", lambda c: 2 - c.label, "gain falls from 2 at label 0 to 1 at label 1," + AGAINST),
        ("discount", lambda m, r: r, "discount rises from 1 at rank 1 to 2 at rank 2," + AGAINST),
        ("discount", lambda m, r: r + 1j, "discount must be numbers, not complex128"),
        ("discount", lambda m, r: np.array(["a"] * 8), "discount must be numbers, not text"),
        ("normalizer", lambda c: 0 * c.size + 1e-320, r"normalizer must be 0 or at least 2.2e-308"),
        ("form", Cascade(lambda c: c.label), "stop must be from 0 to 1, and returned 2"),
        ("form", CountAbove(lambda c: -c.label, label), "row must be at least 0, and returned -1"),
        ("form", Gains(lambda c: c.label), r"ranks returned .* \(3,\) where \(1,\)"),
        ("gain", lambda c: 1.0, r"gain returned an array of shape \(\) where \(3,\) is needed"),
        ("gain", lambda c: c.label * np.nan, "gain returned NaN or infinity"),
        ("normalizer", lambda c: c.label, r"normalizer returned .* \(3,\) where \(1,\)"),
        ("offset", lambda c: c.label, r"offset returned"),
    ],
)
def test_rules_that_return_nonsense_are_named(part: str, rule: Any, words: str) -> None:
    own = declared("own", **{part: rule})
    for use in (
        lambda: lp.evaluate(LABELS, SCORES, group=[8], metrics=own),
        lambda: lp.gradients(LABELS, SCORES, group=[8], metric=own),
    ):
        with pytest.raises(ValueError, match=f"own: its declaration's {words}"):
            use()


def test_gains_of_different_queries_may_fall_and_discounts_wobble_by_rounding() -> None:
    """Only labels of the same query are compared; whoever knows better declares so."""
    by_query = declared("own", gain=lambda c: c.label / c.repeat(c.size))
    lp.evaluate([0, 1, 2, 2, 2], np.arange(5.0), group=[2, 3], metrics=by_query)
    wobbling = declared("own", discount=lambda m, r: 1 + 1e-15 * (r % 2))
    lp.evaluate(LABELS, SCORES, group=[8], metrics=wobbling)
    costs = declared("own", gain=lambda c: -c.label, follows_label_order=False)
    found = lp.evaluate([0, 2], [1, 0], group=[2], metrics=costs)
    assert found["own"] == pytest.approx(-2 / 2**0.5)


def test_an_infinite_value_is_an_error() -> None:
    own = declared("own", normalizer=lambda c: 0 * c.size + 1e-307, gain=lambda c: 20 * c.label)
    with pytest.raises(ValueError, match="own is infinite in 1 of 1 queries"):
        lp.evaluate(LABELS, SCORES, group=[8], metrics=own)
