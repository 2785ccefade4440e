"""How the site is built; `make docs` builds it and takes warnings for errors."""

import os
import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

# Pictures that pages draw: transparent, in tones that read on a light and on a dark page.
os.environ["MATPLOTLIBRC"] = str(Path(__file__).parent / "matplotlibrc")

# The blocks are small: threads would spend their time waiting for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

project = "lambdaplus"
author = "the lambdaplus developers"
version = release = version_of(project)

extensions = [
    "myst_nb",  # pages in Markdown; runs those that show what their code prints and draws
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "mathml",  # these in _ext
    "results",
]
exclude_patterns = ["_ext", "_extra", "_templates"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "dollarmath", "attrs_inline", "attrs_block"]
myst_heading_anchors = 3
nb_execution_mode = "force"  # never an output that an earlier version of the code made
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # seconds, of a busy machine
nb_merge_streams = True
nb_render_markdown_format = "myst"

autodoc_typehints = "none"  # the docstrings say more
autodoc_default_options = {
    "members": True,
    # But not what these have.
    "inherited-members": "BaseEstimator,ClassifierMixin,TransformerMixin,tuple",
    # What scikit-learn adds to every estimator.
    "exclude-members": "get_metadata_routing,set_output,"
    "set_fit_request,set_predict_request,set_score_request,set_transform_request",
}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
default_role = "py:obj"
nitpicky = True  # a name of ours that leads nowhere is an error
nitpick_ignore_regex = [
    # Others' names, and types in words, such as "(n,) array_like".
    ("py:class", r"(?!lambdaplus\.).*"),
    # Parameters and files, which stand in single backticks as well.
    ("py:obj", r"(?!lambdaplus\.).*"),
]
smartquotes = False  # they would make one dash of --option

html_theme = "furo"
html_math_renderer = "mathml"
html_title = "lambdaplus"
html_copy_source = False
html_show_copyright = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_extra"]  # the sample report, written by the page about reports
(Path(__file__).parent / "_extra").mkdir(exist_ok=True)
