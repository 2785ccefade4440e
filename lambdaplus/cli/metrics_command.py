"""``lambdaplus metrics``."""


def metrics() -> None:
    from lambdaplus.cli.terminal import Terminal, errors_of  # not for --help
    from lambdaplus.evaluation import Table
    from lambdaplus.metrics import CATALOGUE

    rows = [(", ".join((str(one), *one.aliases)), one.title) for one in CATALOGUE]
    foot = (
        "k is a number of ranks, or a share of the documents: recall@10, recall@1%.",
        "Training uses all ranks: map@5 and map@10 train the same model, as do metrics whose pairs "
        "are weighted by map, such as p@5 and recall@10.",
    )
    with errors_of("metrics"):
        Terminal().print(Table(("metric", "what it is"), rows, foot))
