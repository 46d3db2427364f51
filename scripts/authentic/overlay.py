"""Lays a throw-away layer over a folder, for this process and its children only: what they write there is in memory and
gone with them. For an agent that writes to fixed places.
"""

import ctypes
import os
import pathlib

CLONE_NEWNS = 0x20000
MS_REC, MS_PRIVATE = 0x4000, 0x40000


def cover(folder, place):
    """Covers `folder`; `place` is an empty folder for the layer. Returns None, or the reason why it was not possible."""
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "unshare"):
        return "no mount namespaces on this system"
    if library.unshare(CLONE_NEWNS) != 0:
        return f"no mount namespace: {os.strerror(ctypes.get_errno())}"

    def mount(what, where, kind, flags=0, words=None):
        told = words.encode() if words else None
        if library.mount(what.encode(), str(where).encode(), kind.encode(), flags, told) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    try:
        mount("none", "/", "none", MS_REC | MS_PRIVATE)
        mount("tmpfs", place, "tmpfs")
        for name in ("upper", "work"):
            pathlib.Path(place, name).mkdir()
        mount("overlay", folder, "overlay", words=f"lowerdir={folder},upperdir={place}/upper,workdir={place}/work")
    except OSError as error:
        return f"no layer over {folder}: {error.strerror}"
    return None
