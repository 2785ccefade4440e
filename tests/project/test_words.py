"""One word for each idea: data without queries is not `grouped`, and has a `Kind`.

A run is the scores of a system, or what a study does; what is tied is a block.
"""

import io
import tokenize

from places import ROOT

OTHER_WORDS = {
    "NO_QUERIES",
    "by_groups", "has_groups", "is_grouped", "is_table", "no_groups", "no_queries",
    "on_tables", "one_list", "one_query", "one_ranking", "over_data_set", "ranked_as",
    "ranks_all_rows", "ungrouped", "without_groups", "without_queries",
}  # fmt: skip
OF_THE_INTERFACE = {  # names that users write, and the folders that read them
    "one_group": {"estimators", "evaluation", "frameworks", "metrics", "objectives"},
    "pooled": {"engine", "metrics"},  # a field of declarations
}


def names_by_room() -> dict[str, set[str]]:
    """All names in the code of each room."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "lambdaplus").rglob("*.py"):
        room = path.relative_to(ROOT / "lambdaplus").parts[0]
        found.setdefault(room, set()).update(
            token.string
            for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
            if token.type == tokenize.NAME
        )
    return found


def test_data_without_queries_has_one_word() -> None:
    found = set()
    for room, names in names_by_room().items():
        found |= {(room, name) for name in names & OTHER_WORDS}
        found |= {
            (room, name)
            for name in names & OF_THE_INTERFACE.keys()
            if room not in OF_THE_INTERFACE[name]
        }
    assert not found, "say grouped, or ask Queries.kind"


def test_nothing_runs_where_documents_are_ranked() -> None:
    names = names_by_room()
    for room in ("ranking", "metrics", "engine", "objectives"):
        called = {name for name in names[room] if {"run", "runs"} & {*name.split("_")}}
        assert not called, "of equal scores or classes, say block"
