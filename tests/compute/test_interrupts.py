"""Ctrl-C while a process is being started."""

import os
import signal
import threading
import time

import pytest

from lambdaplus.compute.processes import _without_interrupts


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
def test_an_interrupt_that_another_thread_gets_waits_until_the_process_has_started() -> None:
    """Python's handler interrupts the main thread, although it blocks the signal."""
    started = False
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        with _without_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            free = threading.Thread(target=_unblocked)  # as those of a progress bar
            free.start()
            free.join()
            started = True
        pytest.fail("the interrupt is lost")
    assert started


def _unblocked() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    time.sleep(0.05)  # in which the pending signal of the process comes
