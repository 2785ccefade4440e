"""Formulas as MathML, which every browser shows without a script: the site works offline."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def show_inline(html: Any, node: nodes.math) -> None:
    html.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def show_block(html: Any, node: nodes.math_block) -> None:
    html.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (show_inline, None), (show_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
