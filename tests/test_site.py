"""Names in docstrings appear on the site as written."""

import contextlib
import html
import re
import sys
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).parents[1] / "docs" / "_ext"
DOCUMENTED = '''
class Cuts:
    """Where it stops.

    Attributes
    ----------
    X : array
    n_queries : int
    """


class Ranker:
    """Trained by MRR or NDCG@10.

    Attributes
    ----------
    booster_ : object
    per_query_ : dict of str to (n_queries,) array of X, or Cuts
    low_, high_ : float
        Bounds.
    """

    @property
    def classes(self):
        """The labels, sorted: (n_classes,)."""
'''


@pytest.fixture(scope="module")  # one build, about two seconds
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The HTML of a module, built by the extensions of the site."""
    application = pytest.importorskip("sphinx.application")
    folder = tmp_path_factory.mktemp("site")
    (folder / "documented.py").write_text(DOCUMENTED)
    (folder / "index.rst").write_text(
        "Module\n======\n\n.. automodule:: documented\n   :members:\n"
    )
    settings = {
        "extensions": ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "names"],
        "napoleon_use_ivar": True,
    }
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        log = stack.enter_context((folder / "log").open("w"))
        patch.syspath_prepend(str(EXTENSIONS))
        patch.syspath_prepend(str(folder))
        made = application.Sphinx(
            folder, None, folder / "out", folder / "doctrees", "html", settings,
            status=log, warning=log, freshenv=True,
        )  # fmt: skip
        made.build()
    for name in ("documented", "names"):
        sys.modules.pop(name, None)
    return html.unescape((folder / "out" / "index.html").read_text())


pytestmark = pytest.mark.filterwarnings("ignore")  # of Sphinx, about its own future


def test_names_appear_as_they_are_written(page: str) -> None:
    assert "<strong>booster_</strong>" in page
    assert "NDCG@10" in page
    assert "mailto:" not in page
    # Sizes in types are not linked to attributes of the same name.
    [described] = re.findall(r"<strong>per_query_</strong>(.*?)</li>", page, re.DOTALL)
    assert re.findall(r'href="([^"]*)"', described) == ["#documented.Cuts"]
    assert "n_queries" in described
    # Each of several attributes has its type, and a property keeps the words before a colon.
    assert "<strong>low_</strong> (<em>float</em>)" in page
    assert re.search(r"<strong>high_</strong> \(<em>float</em>\) .{1,2} Bounds\.", page)
    assert "The labels, sorted: (n_classes,)." in page
