"""How to install what is optional."""


def installation(extra: str) -> str:
    """The command that installs an extra, for the end of an error message."""
    return f"pip install 'lambdaplus[{extra}]' (in a clone: pip install '.[{extra}]')"
