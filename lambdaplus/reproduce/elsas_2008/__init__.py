"""Elsas, Carvalho & Carbonell (WSDM 2008): the committee perceptron."""

from __future__ import annotations

from dataclasses import dataclass

from lambdaplus.comparison.config import scaled_fold
from lambdaplus.reproduce.elsas_2008.claims import claims
from lambdaplus.reproduce.elsas_2008.table4 import METRICS, Table4, systems
from lambdaplus.reproduce.findings import Exhibit, Findings, Section
from lambdaplus.reproduce.preset import Preset, option
from lambdaplus.reproduce.session import Session


@dataclass(frozen=True)
class Options:
    passes: int = option(50, "Most passes over the pairs (Table 4).")
    seeds: int = option(4, "Orders of the pairs; Table 4 has means over them.")


def run(session: Session, options: Options) -> Findings:
    """Table 4."""
    folds = [scaled_fold(fold) for fold in session.folds]
    study = session.study(
        "Table 4", folds, systems(options.passes), METRICS, seeds=tuple(range(options.seeds))
    )
    table4 = Table4.of(study)
    return Findings(
        session.name,
        ("Features are scaled linearly to [0, 1] within each query.",),
        (
            Section(
                "Table 4",
                (
                    Exhibit("table_4", "Test means, the paper's on OHSUMED beside", table4.table),
                    Exhibit("tests", "Seeds that pass a one-tailed paired t-test", table4.tests),
                ),
            ),
        ),
        claims(table4),
    )


ELSAS_2008 = Preset(
    "elsas-2008",
    "Elsas, Carvalho & Carbonell: Fast learning of document ranking functions with the committee "
    "perceptron. WSDM 2008.",
    "Table 4 with its tests",
    {"ohsumed-letor2": "LETOR 2.0 OHSUMED, the paper's own data"},
    Options,
    run,
)
