"""Names in docstrings that reStructuredText would read as something else.

- An attribute ``classes_`` keeps its trailing underscore, which would otherwise mark a reference.
- Of attributes ``label, count : float``, the first would be taken for the type of the second; of a
  property, the words before a colon for its type.
- ``NDCG@10`` is a metric and not the address of a mailbox.
- A lower-case word in a type, such as ``n_queries`` in ``(n_queries,) array``, is not linked to an
  attribute that happens to have the same name elsewhere.

And the names in the table of the reference, which is plain Markdown, are links.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.addnodes import pending_xref

import lambdaplus

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ATTRIBUTE = re.compile(r"^(\s*:(?:ivar|vartype) \w*)_:")
SEVERAL = re.compile(r"^(\s*:(ivar|vartype) )(\w+(?:, \w+)+)(\\_)?:(.*)")
AFTER_NAPOLEON = 600  # which makes these fields; the default priority is 500


def keep_names(
    app: Sphinx, kind: str, name: str, documented: Any, options: Any, lines: list[str]
) -> None:
    types = [line for line in lines if line.startswith(":type: ")]
    if kind == "property" and types:
        lines.remove(types[0])
        lines[0] = f"{types[0].removeprefix(':type: ')}: {lines[0]}"
    single = [field for line in lines for field in one_field_each(line)]
    lines[:] = [ATTRIBUTE.sub(r"\1\\_:", line) for line in single]


def one_field_each(line: str) -> list[str]:
    """A field for each of several attributes; the description follows the last."""
    found = SEVERAL.match(line)
    if not found:
        return [line]
    begin, kind, names, underscore, rest = found.groups(default="")
    *others, last = (names + underscore.removeprefix("\\")).split(", ")
    shared = rest if kind == "vartype" else ""
    return [*(f"{begin}{name}:{shared}" for name in others), f"{begin}{last}:{rest}"]


def remove_wrong_links(app: Sphinx, page: nodes.document) -> None:
    for link in list(page.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.parent.replace(link, link.children)
    for link in list(page.findall(pending_xref)):
        target = link["reftarget"]
        is_a_type = link.get("reftype") == "class" and link.get("refspecific")
        if is_a_type and target.isidentifier() and (target.islower() or len(target) == 1):
            link.parent.replace(link, link.children)


def link_public_names(app: Sphinx, page: nodes.document) -> None:
    """In the table of the public names, each is a link to its page."""
    if app.env.docname != "reference/api":
        return
    modules = lambdaplus._MODULES
    for entry in page.findall(nodes.entry):
        for name in list(entry.findall(nodes.literal)):
            if entry.astext() == name.astext() in modules:
                target = f"lambdaplus.{modules[name.astext()]}.{name.astext()}"
                link = pending_xref("", refdomain="py", reftype="obj", reftarget=target)
                name.parent.replace(name, link)
                link += name


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", keep_names, priority=AFTER_NAPOLEON)
    app.connect("doctree-read", remove_wrong_links)
    app.connect("doctree-read", link_public_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
