"""Compilation of kernels, threads, workers of a distributed training, and checks of arguments."""
