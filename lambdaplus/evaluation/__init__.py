"""Evaluation of rankings: metrics, significance tests, and metrics for LightGBM and XGBoost.

`evaluate` computes metrics, `compare_runs` tests differences between systems, `explain` shows why
tools print different values, `eval_metric` creates metrics for training, such as `eval_auc`, and
`scorer` creates scorers for scikit-learn.
"""

from typing import TYPE_CHECKING

from lambdaplus.compute.lazy_names import importer, modules_of

if TYPE_CHECKING:  # at run time, names are imported when they are first used
    from lambdaplus.evaluation.compare import compare_runs as compare_runs
    from lambdaplus.evaluation.conventions import CONVENTIONS as CONVENTIONS
    from lambdaplus.evaluation.conventions import Convention as Convention
    from lambdaplus.evaluation.conventions import Rule as Rule
    from lambdaplus.evaluation.evaluate_run import evaluate as evaluate
    from lambdaplus.evaluation.evaluation import Evaluation as Evaluation
    from lambdaplus.evaluation.explanation import Explanation as Explanation
    from lambdaplus.evaluation.explanation import explain as explain
    from lambdaplus.evaluation.feval import EvalMetric as EvalMetric
    from lambdaplus.evaluation.feval import eval_auc as eval_auc
    from lambdaplus.evaluation.feval import eval_map as eval_map
    from lambdaplus.evaluation.feval import eval_mauc as eval_mauc
    from lambdaplus.evaluation.feval import eval_metric as eval_metric
    from lambdaplus.evaluation.feval import eval_mrr as eval_mrr
    from lambdaplus.evaluation.feval import eval_ndcg as eval_ndcg
    from lambdaplus.evaluation.result_tables import Cell as Cell
    from lambdaplus.evaluation.result_tables import Table as Table
    from lambdaplus.evaluation.run_comparison import RunComparison as RunComparison
    from lambdaplus.evaluation.run_comparison import RunPair as RunPair
    from lambdaplus.evaluation.scorers import scorer as scorer
else:  # with __getattr__, type checkers would accept misspelt names
    _MODULES = modules_of(
        ("lambdaplus.evaluation.compare", "compare_runs"),
        ("lambdaplus.evaluation.conventions", "CONVENTIONS Convention Rule"),
        ("lambdaplus.evaluation.evaluate_run", "evaluate"),
        ("lambdaplus.evaluation.evaluation", "Evaluation"),
        ("lambdaplus.evaluation.explanation", "Explanation explain"),
        (
            "lambdaplus.evaluation.feval",
            "EvalMetric eval_auc eval_map eval_mauc eval_metric eval_mrr eval_ndcg",
        ),
        ("lambdaplus.evaluation.result_tables", "Cell Table"),
        ("lambdaplus.evaluation.run_comparison", "RunComparison RunPair"),
        ("lambdaplus.evaluation.scorers", "scorer"),
    )
    __all__ = sorted(_MODULES)
    __getattr__ = importer(__name__, _MODULES)
