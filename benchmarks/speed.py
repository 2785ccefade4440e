"""All speed benchmarks in one run: one Markdown and one JSON table in benchmarks/results.

    python benchmarks/speed.py [--full]

Without --full a small version, in about three minutes on two cores.
"""

from __future__ import annotations

import argparse
import os
import platform

import gradients
import start
import training
from tables import RESULTS, show, write

from lambdaplus.study import versions_in_words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="the sizes of the README; 15 minutes")
    full = parser.parse_args().full
    found = gradients.sections(3000 if full else 600, 9 if full else 5)
    found += training.sections(*((700, 300_000, 50) if full else (150, 50_000, 10)))
    found += start.sections()
    show(found)
    versions = versions_in_words()
    command = "python benchmarks/speed.py" + " --full" * full
    head = f"`{command}` on {os.cpu_count()} cores ({platform.machine()}); {versions}."
    name = "speed" if full else "speed-small"
    text = "\n\n".join(["# Speed", head, *(section.markdown() for section in found)])
    data = {"command": command, "versions": versions, "tables": [s._asdict() for s in found]}
    write(RESULTS / name, text, data)


if __name__ == "__main__":
    main()
