"""Configuration of the site; `make docs` builds it and treats warnings as errors."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "lambdaplus"
author = "the lambdaplus developers"
version = release = version_of(project)

extensions = [
    "myst_parser",  # pages in Markdown
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "mathml",  # this one and those below are in _ext
    "names",
    "downloads",
]
exclude_patterns = ["_ext", "_extra", "_templates"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "dollarmath", "attrs_inline", "attrs_block"]
myst_heading_anchors = 3

autosummary_ignore_module_all = False  # the contents of a module are given by its __all__
autodoc_typehints = "none"  # the docstrings describe the types
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
default_role = "py:obj"
nitpicky = True  # a reference to a name of ours that does not exist is an error
nitpick_ignore_regex = [
    # Names of other packages, and types in words, such as "(n,) array_like".
    ("py:class", r"(?!lambdaplus\.).*"),
    ("py:exc", r"(?!lambdaplus\.).*"),
    # Parameters and files, which are in single backticks as well.
    ("py:obj", r"(?!lambdaplus\.).*"),
    ("py:obj", r"lambdaplus\.data\.queries\..*"),  # internal, and has no page
]
smartquotes = False  # they would turn --option into a dash

html_theme = "furo"
html_math_renderer = "mathml"
html_title = "lambdaplus"
html_copy_source = False
html_show_copyright = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_extra"]  # the sample report of compare.md, written by `make docs`
(Path(__file__).parent / "_extra").mkdir(exist_ok=True)
