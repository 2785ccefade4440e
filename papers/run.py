"""Run a preset on data sets and write what it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lambdaplus.study.outputs import OutputFolder
from lambdaplus.study.workers import working_folder
from papers.exhibit_files import write_exhibits
from papers.findings import Findings
from papers.markdown import markdown_of
from papers.preset import Preset, options_of
from papers.session import Session, Watch, unwatched

PROGRAM = "python -m papers"


def run_preset(
    preset: Preset,
    data: Sequence[Path],
    out: Path,
    *,
    options: Any = None,
    jobs: int = 1,
    watch: Watch = unwatched,
) -> list[Findings]:
    """Run a preset on each data set, and write ``findings.md``, its tables and its plots.

    Parameters
    ----------
    preset : Preset
    data : sequence of Path
        Folders in the published layout; the built-in digits if there are none.
    out : Path
        Gets a folder for each set, in which finished fits are kept: a second run goes on from
        the first.
    options : object, optional
        Of the preset's own type.
    jobs : int
        Fits at a time.
    watch : callable

    Raises
    ------
    ValueError
        If two data folders have the same name, or an option makes no sense.
    RuntimeError
        If a fit failed; the finished ones are kept.
    OSError
        If another run writes to the folder, or a file in it that this one would write is the
        user's.
    """
    options = options if options is not None else preset.options()
    sources: Sequence[Path | None] = data or [None]
    names = [Session(source, out).name for source in sources]
    if len(set(names)) < len(names):
        raise ValueError(f"two data folders have the same name: {', '.join(names)}")
    found = []
    with OutputFolder(out) as folder, working_folder() as made:
        folder.refuse_foreign(["findings.md"])
        for source, name in zip(sources, names, strict=True):
            session = Session(source, out / name, jobs, watch)
            found.append(preset.run(session, options))
        command = command_of(preset, names if data else [], options)
        for one in found:
            write_exhibits(one, made)
        (made / "findings.md").write_text(markdown_of(preset, found, command), encoding="utf-8")
        folder.publish(made)
    return found


def command_of(preset: Preset, data: Sequence[str], options: Any) -> str:
    """What to type for it, defaults left out."""
    chosen = asdict(options)
    changed = [
        f"--{name.replace('_', '-')} {chosen[name]}"
        for name, default, _ in options_of(preset.options)
        if chosen[name] != default
    ]
    return " ".join([PROGRAM, preset.name, *data, *changed])
