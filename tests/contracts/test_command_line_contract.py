"""What the command line promises: messages with a place and what to do, and no traceback."""

from pathlib import Path

import pytest
from commands import invoke

TABLE = "qid,label,score,docno\n1,0,0.5,a\n1,1,0.25,b\n2,1,0.5,a\n2,0,0.1,b\n"
FILES = {
    "a.csv": TABLE,
    "twice.csv": TABLE.replace("0.25,b", "0.25,a"),
    "big.csv": TABLE.replace("0.25", "1e400"),
    "one.csv": TABLE.replace(",0,", ",2,"),
    "sub/b.csv": TABLE,
    "qrels": "q 0 d1 1\nq 0 d2 0\n",
    "run": "q Q0 d1 1 2.5 t\n",
    "twice": "q Q0 d1 1 2.5 t\nq Q0 d1 2 1.5 t\n",
}
ROWS: dict[str, tuple[str, int, str]] = {  # a command, its exit code, and words of its output
    "evaluate": ("evaluate a.csv --metrics map", 0, "0.7500"),
    "a folder as --per-query":
        ("evaluate a.csv --per-query sub", 2, "sub is a folder: pass a file, as"),
    "this folder": ("evaluate a.csv --per-query .", 2, "per-query . is a folder: pass a file"),
    "a file in no folder":
        ("evaluate a.csv --per-query no/b.csv", 2, "there is no file or folder no"),
    "a file below a file": ("evaluate a.csv --per-query qrels/b.csv", 2, "qrels is a file, not a"),
    "a document twice":
        ("evaluate twice.csv --columns qid,label,score,docno", 2, "document a is twice in query 1"),
    "in a run": ("evaluate twice --qrels qrels", 2, "twice, line 2"),
    "1e400": ("evaluate big.csv", 2, "big.csv, column 'score', row 2 below the header: '1e400'"),
    "a metric that went":
        ("evaluate a.csv --metrics kendall", 2, "it was removed; use concordance"),
    "a metric that never was": ("evaluate a.csv --metrics ndgc", 2, "(did you mean 'ndcg'?)"),
    "reproduce": ("reproduce yue-2007", 2, "'reproduce': it was removed; use python -m papers"),
    "export": ("export", 2, "'export': it was removed; use"),
    "explain": ("explain", 2, "'explain': it was removed; use lambdaplus.explain"),
    "a command that never was": ("bogus", 2, "No such command 'bogus'."),
    "a TREC run without judgements":
        ("evaluate run", 2, "run is not .csv, .tsv or .parquet: pass --data"),
}  # fmt: skip


@pytest.mark.parametrize(("command", "ends", "words"), ROWS.values(), ids=ROWS)
def test_command(
    command: str, ends: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    for name, text in FILES.items():
        Path(name).write_text(text)
    found = invoke(*command.split(), ends=ends)
    assert words in " ".join(found.output.replace("│", " ").split())
    assert {str(path): path.read_text() for path in map(Path, FILES)} == FILES


def test_labels_1_and_2_are_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "one.csv"
    file.write_text(FILES["one.csv"])
    with pytest.warns(UserWarning, match="all documents are relevant, as map needs it"):
        invoke("evaluate", file, "--metrics", "map")
