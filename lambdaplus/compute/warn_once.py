"""The name under which `objectives` imports Python's own warnings."""

from warnings import warn as warn
