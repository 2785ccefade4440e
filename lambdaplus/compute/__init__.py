"""Compilation of kernels, threads, and the workers of a distributed training."""
