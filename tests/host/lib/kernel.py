# SPDX-License-Identifier: GPL-2.0-only
"""A little of bpf(2) and seccomp(2), to break pins on purpose and to forbid loading programs."""
import ctypes
import os
import platform
import struct

from lib.case import Skip

libc = ctypes.CDLL(None, use_errno=True)
SYS_BPF = {"x86_64": 321, "aarch64": 280}
BPF_PROG_LOAD, BPF_OBJ_PIN, BPF_OBJ_GET = 5, 6, 7
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def bpf_number():
    try:
        return SYS_BPF[platform.machine()]
    except KeyError:
        raise Skip(f"the number of bpf(2) on {platform.machine()} is not known to this test") from None


def bpf_path(command, path, fd=0):
    name = ctypes.create_string_buffer(os.fsencode(path) + b"\0")
    attributes = ctypes.create_string_buffer(struct.pack("QII", ctypes.addressof(name), fd, 0), 128)
    result = libc.syscall(bpf_number(), command, attributes, 16)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"bpf({command}, {path})")
    return result


def swap_pins(first, second):
    """Each is then pinned under the other's name."""
    fds = bpf_path(BPF_OBJ_GET, first), bpf_path(BPF_OBJ_GET, second)
    os.unlink(first), os.unlink(second)
    bpf_path(BPF_OBJ_PIN, first, fds[1]), bpf_path(BPF_OBJ_PIN, second, fds[0])
    for fd in fds:
        os.close(fd)


def forbid_program_loading():
    """From here on bpf(BPF_PROG_LOAD) ends the process at once. For preexec."""
    def instruction(code, jump_true, jump_false, k):
        return struct.pack("HBBI", code, jump_true, jump_false, k)

    code = b"".join((
        instruction(0x20, 0, 0, 0),                     # A = nr
        instruction(0x15, 0, 3, bpf_number()),
        instruction(0x20, 0, 0, 16),                    # A = low word of the first argument
        instruction(0x15, 0, 1, BPF_PROG_LOAD),
        instruction(0x06, 0, 0, 0x80000000),            # kill the process
        instruction(0x06, 0, 0, 0x7fff0000),            # allow
    ))
    filter_ = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(filter_)), 16)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def become_nobody():
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)


def drop_capabilities(*numbers):
    """From the bounding set and all others, root or not. For preexec."""
    for number in numbers:
        libc.prctl(24, number, 0, 0, 0)  # PR_CAPBSET_DROP


def unshare(flags):
    if libc.unshare(flags):
        raise OSError(ctypes.get_errno(), "unshare")


def mount(source, target, kind, flags=0):
    if libc.mount(os.fsencode(source), os.fsencode(target), kind and os.fsencode(kind), flags, None):
        raise OSError(ctypes.get_errno(), f"mount {target}")


def umount(target, flags=0):
    if libc.umount2(os.fsencode(target), flags):
        raise OSError(ctypes.get_errno(), f"umount {target}")


CLONE_NEWNS, CLONE_NEWPID = 0x20000, 0x20000000
MS_REC, MS_PRIVATE, MS_REMOUNT, MS_RDONLY, MS_BIND, MNT_DETACH = 0x4000, 0x40000, 32, 1, 4096, 2
