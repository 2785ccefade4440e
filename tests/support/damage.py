"""Damaged files: bytes that are replaced, truncated, repeated or removed."""

from hypothesis import strategies as st

# What a byte may become: anything, and more often what formats are made of.
_BYTES = st.integers(0, 255) | st.sampled_from(list(b"\n\r\t ,:.#\"'-+e_0179qNn\0\xff"))
_FAULTS = st.tuples(
    st.sampled_from(["replace", "cut", "double", "remove"]),
    st.integers(0, 10**6),
    _BYTES,
    st.integers(1, 80),
)


def damaged(draw: st.DataObject, content: bytes) -> bytes:
    """The content with one to three faults; never what it was."""
    found = bytearray(content)
    for kind, place, byte, n in draw.draw(st.lists(_FAULTS, min_size=1, max_size=3)):
        at = place % max(len(found), 1)
        if kind == "replace":
            found[at : at + 1] = bytes([byte])
        elif kind == "cut":
            del found[at:]
        elif kind == "double":
            found[at:at] = found[at : at + n]
        else:
            del found[at : at + n]
    return bytes(found) if found != content else content + b"?"
