"""``python -m lambdaplus``."""

import os
import sys

if sys.path[0] == os.getcwd():  # `python -m` adds it, and would import what lies beside the data
    del sys.path[0]

from lambdaplus.cli import main

main()
