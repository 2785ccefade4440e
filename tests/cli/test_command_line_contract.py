"""What the command line promises: messages with a place and what to do, and no traceback."""

import subprocess
import sys
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
    "scores.csv": TABLE.replace("score", "scores"),
    "header.csv": "qid,label,score\n",
    "test.txt": "2 qid:1 1:0.5\n0 qid:1 1:0.1\n",
    "scores": "1\n2\n",
}
OVERWRITTEN = "is an input of this command and would be overwritten"
ROWS: dict[str, tuple[str, int, str]] = {  # a command, its exit code, and words of its output
    "evaluate": ("evaluate a.csv --metrics map", 0, "0.7500"),
    "a folder as --per-query":
        ("evaluate a.csv --per-query sub", 2, "sub is a folder: pass a file, as"),
    "an input as --per-query": ("evaluate a.csv --per-query a.csv", 2, OVERWRITTEN),
    "by way of another folder": ("evaluate a.csv --per-query sub/../a.csv", 2, OVERWRITTEN),
    "a symbolic link to it": ("evaluate a.csv --per-query symbolic.csv", 2, OVERWRITTEN),
    "a hard link to it": ("evaluate a.csv --per-query hard.csv", 2, OVERWRITTEN),
    "scores": ("evaluate scores --data test.txt --per-query scores", 2, OVERWRITTEN),
    "labels": ("evaluate scores --data test.txt --per-query test.txt", 2, OVERWRITTEN),
    "judgements": ("evaluate run --qrels qrels --per-query qrels", 2, OVERWRITTEN),
    "this folder": ("evaluate a.csv --per-query .", 2, "per-query . is a folder: pass a file"),
    "a file in no folder":
        ("evaluate a.csv --per-query no/b.csv", 2, "there is no file or folder no"),
    "a file below a file": ("evaluate a.csv --per-query qrels/b.csv", 2, "qrels is a file, not a"),
    "a document twice":
        ("evaluate twice.csv --columns qid,label,score,docno", 2, "document a is twice in query 1"),
    "in a run": ("evaluate twice --qrels qrels", 2, "twice, line 2"),
    "only a header": ("evaluate header.csv", 2, "header.csv has no rows below its header"),
    "without queries":
        ("evaluate header.csv --columns none,label,score", 2, "header.csv has no rows below its"),
    "runs with other labels":
        ("evaluate a.csv one.csv", 2, "not have the same labels: those of 2 of 2 queries differ"),
    "1e400": ("evaluate big.csv", 2, "big.csv, column 'score', row 2 below the header: '1e400'"),
    "a metric that went":
        ("evaluate a.csv --metrics bpref", 2, "after lambdaplus 0.2; use ir-measures"),
    "a metric that never was": ("evaluate a.csv --metrics ndgc", 2, "(did you mean 'ndcg'?)"),
    "a command that never was": ("bogus", 2, "No such command 'bogus'."),
    "a TREC run without judgements":
        ("evaluate run", 2, "run is not .csv, .tsv or .parquet: pass --data for a file with"),
    "judgements of two kinds":
        ("evaluate run --data test.txt --qrels qrels", 2, "pass either --data (LETOR) or --qrels"),
    "a cutoff below 1": ("evaluate a.csv --metrics ndcg@-2", 2, "at least 1, got -2"),
    "a convention": ("evaluate a.csv --convention x", 2, "unknown convention 'x'"),
    "columns of LETOR":
        ("evaluate run --data test.txt --columns a,b", 2, "--columns is for CSV and Parquet"),
    "pairs of one run": ("evaluate a.csv --pairs", 2, "need at least two runs"),
    "data that are not there": ("evaluate run --data none", 2, "there is no file or folder none"),
    **{
        f"a method {name}": (f"compare --methods {name} --out out", 2, words)
        for name, words in {
            "lightgbm:logloss": "lightgbm calls this loss binary: name lightgbm:binary",
            "lightgbm:binary_logloss": "name lightgbm:binary",
            "xgboost:logloss": "name xgboost:binary:logistic",
            "lightgbm:mse": "name lightgbm:regression",
            "xgboost:l2": "name xgboost:reg:squarederror",
            "lightgbm:rank:ndcg": "name lightgbm:lambdarank",
            "xgboost:lambdarank": "name xgboost:rank:ndcg",
            "lightgbm:aucpr": "unknown metric 'aucpr' (did you mean 'map'?)",
            "lightgbm:ndcg10": "(did you mean 'ndcg@10'?)",
        }.items()
    },
    "a metric of others": ("compare --metrics ic --out out", 2, "(did you mean 'spearman'?)"),
    "a metric of others to evaluate":
        ("evaluate a.csv --metrics ndcg_score", 2, "(did you mean 'ndcg(gain=linear)'?)"),
    "a misspelt file": ("evaluate a.cvs", 2, "no file or folder a.cvs (did you mean 'a.csv'?)"),
    "a misspelt folder": ("evaluate no/a.csv", 2, "there is no folder no, so no no/a.csv"),
    "misspelt judgements": ("evaluate run --qrels qrel", 2, "qrel (did you mean 'qrels'?)"),
    "a misspelt column":
        ("evaluate scores.csv", 2, "scores.csv has no column 'score' (did you mean 'scores'?)"),
    "how to name columns":
        ("evaluate scores.csv", 2, "of qid, label, score, such as --columns query,grade"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    for name, text in FILES.items():
        Path(name).write_text(text)
    Path("symbolic.csv").symlink_to("a.csv")
    Path("hard.csv").hardlink_to("a.csv")
    return tmp_path


@pytest.mark.parametrize(("command", "ends", "words"), ROWS.values(), ids=ROWS)
def test_command(command: str, ends: int, words: str) -> None:
    found = invoke(*command.split(), ends=ends)
    assert words in " ".join(found.output.replace("│", " ").split())
    assert {str(path): path.read_text() for path in map(Path, FILES)} == FILES


def test_labels_1_and_2_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="all documents are relevant, as map needs it"):
        invoke("evaluate", "one.csv", "--metrics", "map")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("({} evaluate a.csv >&-) 2>&1; echo ended with $?", "ended with 0"),
        ("{} evaluate a.csv --per-query /dev/stdout | cat", "a,1,map,"),
        ("{} evaluate a.csv --per-query /dev/full 2>&1; echo $?", "No space left on device"),
        ("{} evaluate a.csv 2>&1 >/dev/full; echo $?", "No space left on device\n2"),
        ("{} metrics 2>&1 >/dev/full; echo $?", "No space left on device\n2"),
    ],
)
def test_odd_outputs_lose_nothing_and_give_no_traceback(line: str, words: str) -> None:
    line = line.format(f"{sys.executable} -m lambdaplus")
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert words in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["[red]a.csv", "📈 [bold].csv", "[red][.csv", ":smile:.csv"])
def test_brackets_and_emoji_in_names_are_printed_as_they_are(folder: Path, name: str) -> None:
    (folder / name).write_text(TABLE)
    found = invoke("evaluate", name, "a.csv", "--per-query", f"out {name}")
    assert name.removesuffix(".csv").split(".")[0] in found.output
    assert (folder / f"out {name}").exists()
    assert f"missing{name}" in invoke("evaluate", f"missing{name}", ends=2).output


def test_control_characters_of_a_file_are_printed_as_escapes() -> None:
    """In a terminal, they would clear the screen, or change its title or what was printed."""
    evil = "sc\x1b[2Jore\x9b31m"
    Path("evil.csv").write_text(TABLE.replace("score", evil))
    for command in ("evaluate evil.csv", "compare evil.csv --label x --out out"):
        found = invoke(*command.split(), ends=2).output
        assert r"sc\x1b[2Jore\x9b31m" in found
        assert not {"\x1b", "\x9b"} & {*found}
