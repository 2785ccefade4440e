"""The formula of each metric and the words that explain it, for the reference of metrics."""

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
    "f1": (r"\frac{2 c(k)}{k + R}", ""),
    "recall": (r"\frac{c(k)}{R}", "This is `divisor=relevant`."),
    "rprec": (r"\frac{c(R)}{R}", ""),
    "bpref": (
        r"\frac{1}{R} \sum_r \mathrm{rel}_r \left(1 - \frac{\min(r - c(r), m)}{m}\right)",
        r"$m = \min(R, N)$.",
    ),
}

# The metrics that version 0.1.0 did not have.
SINCE = dict.fromkeys(
    ("cindex", "spearman", "gini", "success",
     "top_precision", "f1"), "0.2.0",
) | {"arhr": "0.3.0"}  # fmt: skip
