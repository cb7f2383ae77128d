# SPDX-License-Identifier: GPL-2.0-only
"""What the BPF object itself shows: no helper that lockdown=confidentiality forbids. And that what is missed is counted."""
import os
import struct

from lib.case import LISTENREAP, case
from vm.refusal import KERNEL

OBJECT = os.environ.get("LISTENREAP_OBJECT", os.path.dirname(LISTENREAP) + "/bpf/listenreap.bpf.o")
# include/uapi/linux/bpf.h; security/security.c calls the right LOCKDOWN_BPF_READ_KERNEL, and kernel/bpf/helpers.c asks for it.
FORBIDDEN = {4: "probe_read", 45: "probe_read_str", 113: "probe_read_kernel", 115: "probe_read_kernel_str"}
SHF_EXECINSTR, BPF_CALL, BPF_LD_IMM64 = 4, 0x85, 0x18


def helpers_of(path):
    """{section: ids of the helpers that its programs call}"""
    data = open(path, "rb").read()
    assert data[:6] == b"\x7fELF\x02\x01", "not a little-endian ELF file"
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", data, 0x3a)
    sections = [struct.unpack_from("<IIQQQQ", data, table + size * i) for i in range(count)]
    found = {}
    for name, _, flags, _, offset, length in sections:
        if not flags & SHF_EXECINSTR or not length:
            continue
        start = sections[names_at][4] + name
        title = data[start:data.index(b"\0", start)].decode()
        at = offset
        while at < offset + length:
            code, registers, _, immediate = struct.unpack_from("<BBhi", data, at)
            if code == BPF_CALL and registers >> 4 == 0:
                found.setdefault(title, set()).add(immediate)
            at += 16 if code == BPF_LD_IMM64 else 8
    return found


@case(tracking=False)
def no_helper_that_lockdown_forbids(t):
    helpers = helpers_of(OBJECT)
    assert sum(map(len, helpers.values())) > 5, f"this reads no helpers: {helpers}"
    bad = {section: [FORBIDDEN[each] for each in ids if each in FORBIDDEN] for section, ids in helpers.items()}
    assert not any(bad.values()), bad


if KERNEL >= (5, 12):
    @case
    def what_is_missed_is_shown(t):
        shown = t.run("status", "--json").done().json
        assert isinstance(shown["dropped"], int)
        for key in ("storage_failed", "recursion"):
            assert isinstance(shown["missed"][key], int), shown
