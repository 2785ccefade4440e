"""All speed benchmarks in one run: one Markdown and one JSON table in benchmarks/results.

    python benchmarks/speed.py [--full]

Without --full a small version, in about three minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform

import gradients
import growth
import start
import training
from tables import show

from lambdaplus.comparison import installed_versions

RESULTS = pathlib.Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="the sizes of the README; 30 minutes")
    full = parser.parse_args().full
    found = gradients.sections(6000 if full else 600, 15 if full else 5)
    found += growth.sections(10_000_000 if full else 100_000, 5 if full else 3)
    found += training.sections(*((1500, 1_000_000, 100) if full else (150, 50_000, 10)))
    found += start.sections()
    show(found)
    versions = ", ".join(f"{name} {version}" for name, version in installed_versions().items())
    command = "python benchmarks/speed.py" + " --full" * full
    head = f"`{command}` on {os.cpu_count()} cores ({platform.machine()}); {versions}."
    name = "speed" if full else "speed-small"
    text = "\n\n".join(["# Speed", head, *(section.markdown() for section in found)])
    (RESULTS / f"{name}.md").write_text(text + "\n")
    data = {"command": command, "versions": versions, "tables": [s._asdict() for s in found]}
    (RESULTS / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
