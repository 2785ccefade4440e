"""The formula of each metric, its words, a worked value and the sources, for their reference."""

from __future__ import annotations

NOTATION = (
    r"In the formulas, $y_r$ is the label at rank $r$, counted from 1. $\mathrm{rel}_r$ is 1 "
    r"if the document there is relevant (its label reaches `relevant`), and 0 otherwise. "
    r"Of $n$ documents, $R$ are relevant and $N$ are not; $c(r)$ of the first $r$ are relevant. "
    r"Without a cutoff, $k$ is $n$."
)

_IN_ORDER = r"\frac{1}{P} \left(C + \frac{T}{2}\right)"
_IN_ORDER_WORDS = "$C$ of them have scores in the right order, $T$ have equal scores"
_DCG = r"\sum_{r \le k} \frac{2^{y_r} - 1}{\log_2(1 + r)}"
_READER = r"p_r = (2^{y_r} - 1) / 2^{t}$ with the option $t$ = `top`"
_SHARE = r"$K$ is $f n$ rounded up, with the option $f$ = `fraction`"

FORMULAS = {
    "auc": (
        _IN_ORDER,
        f"Over the $P = R N$ pairs of a relevant and another document: {_IN_ORDER_WORDS}.",
    ),
    "mauc": (
        r"\frac{\sum_{c > 0} m_c A_c}{\sum_{c > 0} m_c}",
        "$A_c$ is the AUC of the $m_c$ documents of class $c$ against all others.",
    ),
    "concordance": (
        _IN_ORDER,
        f"Over the $P$ pairs of documents with different labels: {_IN_ORDER_WORDS}.",
    ),
    "cindex": (
        _IN_ORDER,
        "Over the $P$ pairs of which one event is known to come before the other's event or "
        f"censoring: {_IN_ORDER_WORDS}.",
    ),
    "spearman": (
        r"\frac{\mathrm{cov}(a, b)}{\sigma_a \sigma_b}",
        "$a$ and $b$ are the midranks of the labels and of the scores.",
    ),
    "gini": (
        r"\frac{G_s}{G_y}, \quad G = \sum_r \left(\frac{n + 1}{2} - r\right) y_r",
        "$G_s$ is this sum with the documents ranked by score, $G_y$ by label.",
    ),
    "map": (r"\frac{1}{\min(R, k)} \sum_{r \le k} \mathrm{rel}_r \frac{c(r)}{r}", ""),
    "arhr": (
        r"\frac{\sum_{r \le k} \mathrm{rel}_r / r}{\sum_{r \le \min(R, k)} 1 / r}",
        "The reciprocal rank, if one document is relevant.",
    ),
    "mrr": (
        r"\frac{1}{r_1}",
        "$r_1$ is the rank of the first relevant document; 0 if this is beyond $k$.",
    ),
    "success": (r"\min(c(k), 1)", ""),
    "ndcg": (
        rf"\frac{{1}}{{Z}} {_DCG}",
        "$Z$ is the same sum with the documents ranked by label. This is `gain=exp2`, "
        "`discount=log2`.",
    ),
    "dcg": (_DCG, "This is `gain=exp2`, `discount=log2`."),
    "err": (r"\sum_{r \le k} \frac{p_r}{r} \prod_{q < r} (1 - p_q)", f"${_READER}."),
    "rbp": (
        r"(1 - b) \sum_{r \le k} b^{r - 1} \mathrm{rel}_r",
        "$b$ is the option `persistence`.",
    ),
    "p": (r"\frac{c(k)}{k}", ""),
    "top_precision": (r"\frac{c(K)}{K}", f"{_SHARE}."),
    "lift": (r"\frac{c(k) / \min(k, n)}{R / n}", ""),
    "f1": (r"\frac{2 c(k)}{k + R}", ""),
    "recall": (r"\frac{c(k)}{R}", "This is `divisor=relevant`."),
    "rprec": (r"\frac{c(R)}{R}", ""),
}

# Labels from the first rank to the last, a metric, and its value, which `references` checks.
GRADED, REAL, TIMES = (0, 2, 1, 0, 0), (3, 1, 2), (4, 1, -3, 5)
WORKED = {
    "auc": (GRADED, "auc", "4 / 6"),
    "mauc": (GRADED, "mauc", "(1 * 2/4 + 1 * 3/4) / 2"),
    "concordance": (GRADED, "concordance", "5 / 7"),
    "cindex": (TIMES, "cindex", "3 / 4"),
    "spearman": (REAL, "spearman", "(1 * 1 - 1 * 0 - 0 * 1) / 2"),
    "gini": (REAL, "gini", "(3 - 2) / (3 - 1)"),
    "map": (GRADED, "map", "(1/2 + 2/3) / 2"),
    "arhr": (GRADED, "arhr", "(1/2 + 1/3) / (1/1 + 1/2)"),
    "mrr": (GRADED, "mrr", "1 / 2"),
    "success": (GRADED, "success@2", "min(1, 1)"),
    "ndcg": (GRADED, "ndcg", "(3 / log2(3) + 1 / log2(4)) / (3 / log2(2) + 1 / log2(3))"),
    "dcg": (GRADED, "dcg", "3 / log2(3) + 1 / log2(4)"),
    "err": (GRADED, "err", "3/16 / 2 + (1 - 3/16) * 1/16 / 3"),
    "rbp": (GRADED, "rbp", "(1 - 0.8) * (0.8 + 0.8**2)"),
    "p": (GRADED, "p@2", "1 / 2"),
    "top_precision": (GRADED, "top_precision(fraction=0.4)", "1 / 2"),
    "lift": (GRADED, "lift@2", "(1 / 2) / (2 / 5)"),
    "f1": (GRADED, "f1@2", "2 * 1 / (2 + 2)"),
    "recall": (GRADED, "recall@3", "2 / 2"),
    "rprec": (GRADED, "rprec", "1 / 2"),
}

# Of the sources that declarations name by author and year.
BIBLIOGRAPHY = (
    "Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton & Hullender (2005). Learning to rank using "
    "gradient descent. ICML.",
    "Chakrabarti, Khanna, Sawant & Bhattacharyya (2008). Structured learning for non-smooth "
    "ranking losses. KDD.",
    "Chapelle, Metzler, Zhang & Grinspan (2009). Expected reciprocal rank for graded relevance. "
    "CIKM.",
    "Deshpande & Karypis (2004). Item-based top-N recommendation algorithms. ACM Transactions on "
    "Information Systems 22.",
    "Elsas, Carvalho & Carbonell (2008). Fast learning of document ranking functions with the "
    "committee perceptron. WSDM.",
    "Frees, Meyers & Cummings (2014). Insurance ratemaking and a Gini index. Journal of Risk and "
    "Insurance 81.",
    "Harrell, Califf, Pryor, Lee & Rosati (1982). Evaluating the yield of medical tests. JAMA 247.",
    "Järvelin & Kekäläinen (2002). Cumulated gain-based evaluation of IR techniques. ACM "
    "Transactions on Information Systems 20.",
    "Moffat & Zobel (2008). Rank-biased precision for measurement of retrieval effectiveness. ACM "
    "Transactions on Information Systems 27.",
    "Spearman (1904). The proof and measurement of association between two things. American "
    "Journal of Psychology 15.",
    "van Rijsbergen (1979). Information Retrieval, second edition. Butterworths.",
    "Welleck (2016). Efficient AUC optimization for information ranking applications. ECIR.",
    "Yue, Finley, Radlinski & Joachims (2007). A support vector method for optimizing average "
    "precision. SIGIR.",
)

# The metrics that version 0.1.0 did not have.
SINCE = dict.fromkeys(
    ("cindex", "spearman", "gini", "success",
     "top_precision", "f1"), "0.2.0",
) | {"arhr": "0.3.0", "lift": "0.3.0"}  # fmt: skip
