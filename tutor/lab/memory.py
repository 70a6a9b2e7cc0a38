"""Memory that a training step frees is kept for the next step."""

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
_MOST = 2**30


def keep_freed() -> None:
    """Ask glibc to keep freed memory in the process; elsewhere nothing is done.

    By default it gives large tensors back to the system and gets them anew, zeroed page by page: a tenth of
    the time of a step of our small model, and different at every start (mallopt(3)).
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MOST)
        mallopt(_M_TRIM_THRESHOLD, _MOST)
