"""Cuts this process off from every network but loopback, so that a client under test can reach nothing else."""

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWNET = 0x40000000
CLONE_NEWUSER = 0x10000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1


def isolate():
    """Enters a network namespace with loopback only. Returns None, or the reason why it was not possible.

    Without root a user namespace is tried too. Must be called before any thread is started.
    """
    user, group = os.getuid(), os.getgid()
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "unshare"):
        return "no network namespaces on this system"
    if library.unshare(CLONE_NEWNET) != 0:
        if library.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
            return f"no network namespace: {os.strerror(ctypes.get_errno())}"
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"{user} {user} 1")
        write("/proc/self/gid_map", f"{group} {group} 1")
    try:
        raise_loopback()
    except OSError as error:
        return f"loopback does not come up: {error.strerror}"
    return None


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(handle, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))
