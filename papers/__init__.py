"""The experiments of four papers, and whether what they say holds: ``python -m papers``.

A paper is a module with its experiments and claims; `session` keeps what is finished, `report`
writes one page, `drawing` its figures.  Nothing is imported here, so that an edit of one paper
leaves the stored fits of the others as they are.
"""
