"""``python -m papers``, from the root of the repository."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from papers.every_paper import PAPERS
from papers.report import PROGRAM, run_paper


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a paper; 2 for what cannot be run, 1 if a fit failed, 130 if it was stopped."""
    papers = "\n".join(
        f"  {paper.name:17} {paper.shows}\n{'':20}fits: "
        + "; ".join(f"{name} ({what})" for name, what in paper.fits.items())
        for paper in PAPERS
    )
    parser = argparse.ArgumentParser(
        PROGRAM, description="Run the experiments of a paper and check its claims.",
        epilog=f"papers:\n{papers}", formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("paper", nargs="?", choices=[paper.name for paper in PAPERS])
    parser.add_argument("data", nargs="*", type=Path, help="folders of folds; default: digits")
    parser.add_argument("--out", type=Path, help="for finished fits, figures and findings.md")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="fits at a time")
    given = parser.parse_args(arguments)
    if given.paper is None:
        parser.print_help()
        return 0
    [paper] = [paper for paper in PAPERS if paper.name == given.paper]
    if paper.small and not given.data:
        sizes = ", ".join(f"{name}={size}" for name, size in paper.small.items())
        print(f"No data: the built-in digits, in a minute or two, with small sizes ({sizes}).")
    out = given.out or Path("build/papers") / paper.name
    try:
        found = run_paper(paper, given.data, out, given.jobs)
    except (ValueError, OSError) as wrong:
        parser.error(str(wrong))
    except RuntimeError as failed:
        print(failed, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"Stopped; what was finished is kept in {out}, and the same command goes on.")
        return 130
    console = Console(markup=False)
    for name, findings in found.items():
        for claim in findings.claims:
            console.print(f"{name}: {claim.verdict}, {claim.place}: {claim.statement}")
    console.print(f"Wrote {out / 'findings.md'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
