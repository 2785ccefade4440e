"""The declarations of all metrics, in the order of all tables.

A `Declaration` that is added here gets its value, objective, evaluation function, entries in tables
and tests without other changes.
"""

from dataclasses import replace
from functools import partial

from lambdaplus.metrics import components as c
from lambdaplus.metrics.declaration import Declaration
from lambdaplus.metrics.forms import Cascade, CountAbove, Gains
from lambdaplus.metrics.parameters import DISCOUNT, DIVISOR, GAIN, OVER, RELEVANT, Parameter

_graded = partial(Declaration, binary=False, bounds=(0.0, 1.0))
_of_pairs = partial(_graded, discount=c.constant, gain=c.nothing, cutoff="no")
_relevant = partial(Declaration, binary=True, gain=c.relevance, bounds=(0.0, 1.0))
_counted = partial(_relevant, discount=c.constant)

AUC = _relevant(
    name="auc",
    aliases=("rankeff", "roc_auc", "roc_auc_score", "auroc", "auc_roc", "gauc"),
    title="Area under the ROC curve",
    source="Welleck 2016, eqs. 9-10, theorem 4.1; as RankEff: Elsas et al. 2008, sec. 3.1",
    discount=c.falling,
    normalizer=c.both_classes,
    offset=c.best_rank_sum,
    cutoff="no",
    parameters=(OVER,),
    pooled="middle",
)

MAUC = _graded(
    name="mauc",
    title="Multi-class AUC: class-reference AUCs weighted by class share",
    source="Welleck 2016, eq. 5 (as read here: relevant classes, the query's own shares)",
    discount=c.falling,
    gain=c.class_reference_gain,
    normalizer=c.total_share,
    offset=c.best_rank_sum,
    cutoff="no",
    parameters=(
        RELEVANT,
        Parameter("classes", "relevant", "classes that are averaged", ("relevant", "all")),
        Parameter("share", "query", "data that class shares refer to", ("query", "dataset")),
        OVER,
    ),
    pooled="middle",
    follows_label_order=False,  # ranking the rarer of two grades higher can decrease it
)

CONCORDANCE = _of_pairs(
    name="concordance",
    title="Graded concordance: share of pairs of different labels in the right order",
    source="Harrell's c without censoring (see cindex); for two classes it is AUC",
    normalizer=c.unequal_pairs,
    form=CountAbove(c.one_per_label, c.one_per_label, "higher"),
)

CINDEX = _of_pairs(
    name="cindex",
    aliases=("harrell_c",),
    title="Harrell's C of censored times: share of comparable pairs in the right order",
    source="Harrell et al. 1982; scikit-survival's concordance_index_censored, without its "
    "tied_tol; labels as in XGBoost's survival:cox, negative if the time is censored",
    normalizer=c.comparable_pairs,
    form=CountAbove(c.may_be_lower, c.may_be_higher, "higher", c.time_order),
    parameters=(
        Parameter(
            "higher",
            "risk",
            "what a higher score means: a higher risk, as in Cox models, or a longer life",
            ("risk", "life"),
        ),
    ),
)

SPEARMAN = _graded(
    name="spearman",
    aliases=("rank_ic", "spearmanr"),
    title="Spearman's rank correlation of labels and scores (rank IC)",
    source="Spearman 1904, with midranks for ties: SciPy's spearmanr; 0 of equal scores",
    discount=c.falling,
    gain=c.centred_midrank,
    normalizer=c.deviations_of_ranks,
    cutoff="no",
    correlation=True,
    bounds=(-1.0, 1.0),
)

GINI = _graded(
    name="gini",
    aliases=("normalized_gini", "gini_normalized"),
    title="Normalised Gini coefficient of the concentration of the labels by score",
    source="Frees, Meyers & Cummings 2014; the metric of the insurance competitions of Kaggle",
    discount=c.falling,
    gain=c.centred_label,
    normalizer=c.best_sum_of_ranks,
    cutoff="no",
    parameters=(OVER,),
    pooled="middle",
    bounds=(-1.0, 1.0),
)

MAP = _relevant(
    name="map",
    aliases=("ap", "average_precision", "average_precision_score", "mean_average_precision"),
    title="Mean average precision",
    source="Yue et al. 2007, sec. 2.1",
    discount=c.reciprocal,
    normalizer=c.reachable_or_all_hits,
    form=CountAbove(c.relevance, c.relevance),
    parameters=(DIVISOR,),
    pooled="last",
)

ARHR = _relevant(
    name="arhr",
    title="Average reciprocal hit rank: reciprocal ranks of all relevant documents",
    source="Deshpande & Karypis 2004, sec. 5.1, for one relevant document, where it is MRR; of "
    "several, the sum by its largest value, which is NDCG with the discount 1 / rank",
    discount=c.reciprocal,
    normalizer=c.best_relevance,
)

MRR = _relevant(
    name="mrr",
    aliases=("rr", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank"),
    title="Mean reciprocal rank of the first relevant document",
    source="Chakrabarti et al. 2008, sec. 2.2",
    discount=c.reciprocal,
    normalizer=c.any_relevant,
    form=Cascade(c.relevance),
    surrogate="arhr",
)

SUCCESS = _counted(
    name="success",
    aliases=("hit", "hits", "hit_rate", "hit_ratio", "hr"),
    title="Success at k (hit rate): whether the first k ranks contain a relevant document",
    source="trec_eval's success_k; ir-measures' Success@k",
    normalizer=c.any_relevant,
    form=Cascade(c.relevance),
    cutoff="required",
    surrogate="arhr",
)

NDCG = _graded(
    name="ndcg",
    aliases=("normalized_dcg",),
    title="Normalised discounted cumulative gain",
    source="Järvelin & Kekäläinen 2002; gain 2^l - 1 and discount log2(1 + rank): Burges 2005",
    discount=c.logarithmic,
    gain=c.label_gain_of_long_queries,
    normalizer=c.ideal_gain,
    parameters=(
        GAIN,
        DISCOUNT,
        Parameter(
            "short",
            "value",
            "ndcg@k of a query with fewer than k documents: the usual value, or zero as in LETOR 4",
            ("value", "zero"),
        ),
    ),
)

DCG = _graded(
    name="dcg",
    title="Discounted cumulative gain",
    source="Järvelin & Kekäläinen 2002; gain 2^l - 1 and discount log2(1 + rank): Burges 2005",
    discount=c.logarithmic,
    gain=c.label_gain,
    normalizer=c.one,
    parameters=(GAIN, DISCOUNT),
    bounds=None,
)

ERR = _graded(
    name="err",
    title="Expected reciprocal rank of the document that satisfies the reader",
    source="Chapelle, Metzler, Zhang & Grinspan 2009, eqs. 4-5",
    discount=c.reciprocal,
    gain=c.chance_of_satisfaction,
    normalizer=c.one,
    form=Cascade(c.chance_of_satisfaction),
    parameters=(
        Parameter(
            "top",
            4.0,
            "highest grade; label l satisfies with probability (2^l - 1) / 2^top",
            limits=(0.0, 900.0),
        ),
    ),
    closed_ties=False,
)

RBP = _relevant(
    name="rbp",
    title="Rank-biased precision",
    source="Moffat & Zobel 2008",
    discount=c.geometric,
    normalizer=c.one,
    parameters=(
        Parameter(
            "persistence",
            0.8,
            "probability that the reader continues to the next rank",
            limits=(0.0, 1.0),
        ),
    ),
)

P = _counted(
    name="p",
    aliases=("precision",),
    title="Precision at k",
    source="Elsas et al. 2008, table 6",
    normalizer=c.cutoff_or_documents,
    cutoff="required",
    parameters=(
        Parameter(
            "divisor",
            "k",
            "p@k divides by k, or by min(n, k) for a query with n documents",
            ("k", "documents"),
        ),
    ),
    surrogate="map",
)

TOP_PRECISION = _counted(
    name="top_precision",
    title="Precision in the first share of the list",
    source="precision at k, where k is the share of the documents, rounded up",
    normalizer=c.ranks_in_share,
    form=Gains(c.ranks_in_share),
    cutoff="no",
    parameters=(
        Parameter("fraction", 0.01, "share of the documents that is counted", limits=(0.0, 1.0)),
        OVER,
    ),
    surrogate="map",
)

LIFT = _counted(
    name="lift",
    aliases=("enrichment_factor", "ef"),
    title="Lift at k (enrichment factor): precision at k by that of a random order",
    source="RDKit's CalcEnrichment, with the share as the cutoff: lift@1%",
    normalizer=c.relevant_of_a_random_order,
    cutoff="required",
    surrogate="map",
    bounds=None,
)

F_ONE = _counted(
    name="f1",
    title="F1 at k: harmonic mean of precision and recall",
    source="van Rijsbergen 1979, ch. 7: 2 h / (k + R) with h hits among R relevant documents",
    normalizer=c.mean_of_cutoff_and_relevant,
    cutoff="required",
    surrogate="map",
)

RECALL = replace(
    F_ONE,
    name="recall",
    aliases=("r",),
    title="Recall at k",
    source="share of the relevant documents that are in the first k ranks; divisor=reachable is "
    "BEIR's R_cap@k",
    normalizer=c.reachable_or_all_hits,
    parameters=(replace(DIVISOR, default="relevant"),),
)

R_PRECISION = _counted(
    name="rprec",
    aliases=("r_precision",),
    title="R-precision: precision at R, the number of relevant documents",
    source="Elsas et al. 2008, table 6",
    normalizer=c.n_relevant,
    form=Gains(c.n_relevant),
    cutoff="no",
    surrogate="map",
)

CATALOGUE: tuple[Declaration, ...] = tuple(  # those above, in their order
    value for value in list(globals().values()) if isinstance(value, Declaration)
)
