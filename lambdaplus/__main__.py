"""``python -m lambdaplus``."""

from lambdaplus.cli import main

main()
