"""How kernels are compiled and run: a cache on disk, threads, and the workers of a training.

Arrays enter and leave; nothing here knows queries or metrics.
"""
