"""Damaged files: bytes that are flipped, truncated or repeated."""

from __future__ import annotations

from hypothesis import strategies as st


def damaged(draw: st.DataObject, content: bytes) -> bytes:
    """The content with one fault; never what it was."""
    kind = draw.draw(st.sampled_from(["flipped", "cut", "doubled", "empty", "noise"]))
    if kind == "empty" or not content:
        return b"" if content else b"?"
    if kind == "noise":
        return draw.draw(st.binary(min_size=1, max_size=60).filter(lambda noise: noise != content))
    if kind == "doubled":
        return content + content
    place = draw.draw(st.integers(0, len(content) - 1))
    if kind == "cut":
        return content[:place]
    bit = draw.draw(st.integers(0, 7))
    return content[:place] + bytes([content[place] ^ (1 << bit)]) + content[place + 1 :]
