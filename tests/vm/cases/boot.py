# SPDX-License-Identifier: GPL-2.0-only
"""listenreap run, started by the guest's init before anything else (guest/init): every later process is witnessed."""
import json
import os
import signal
import subprocess

from lib.case import Skip, case
from lib.play import Process, read_text
from vm.refusal import KERNEL

PIN_DIR, PID, LOG = "/bpf/boot", "/boot.pid", "/boot.log"
BIRTH_WITNESSED = 1
BPFTOOL = next((path for path in ("/usr/sbin/bpftool", "/usr/bin/bpftool") if os.path.exists(path)), None)


def need_boot():
    if not os.path.exists(PID):
        raise Skip("this guest's init started nothing: its root is not ours")


def births():
    """{tgid: flags of each birth recorded of it}"""
    dump = subprocess.run([BPFTOOL, "-j", "map", "dump", "pinned", PIN_DIR + "/v1/births"], capture_output=True, text=True, check=True)
    found = {}
    for each in json.loads(dump.stdout):
        found.setdefault(each["formatted"]["key"]["tgid"], []).append(each["formatted"]["value"]["flags"])
    return found


if KERNEL < (5, 12):
    @case(tracking=False)
    def run_as_the_first_program_refuses_in_one_line(t):
        need_boot()
        assert len(read_text(LOG).splitlines()) == 1 and "socket storage" in read_text(LOG), read_text(LOG)
        assert not os.path.exists(PIN_DIR)
else:
    @case
    def run_as_the_first_program_witnesses_all_that_follows(t):
        need_boot()
        runner = Process(read_text(PID).strip())
        assert runner.comm == "listenreap", read_text(LOG)
        t.pin_dir = PIN_DIR
        agent = t.agent()
        server = t.server(agent)
        row = t.judged(server, "spare", "anchor-alive", age_exact=True, anchor__pid=agent.pid, anchor__kind="agent")
        assert row["opener"]["pid"] == server.pid, row
        agent.end()
        t.judged(server, "reap", "due", orphan="yes", anchor__alive=False)
        assert not server.has_ended(), "the runner at boot only observes"
        shown = t.run("status", "--json").done().json
        assert shown["dropped"] == 0, shown
        # No name that hooks missed: of all live processes only those that forked before tracking are not witnessed.
        if not BPFTOOL:
            raise Skip("no bpftool here to look into the births")
        alive = {}
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                if pid not in (1, runner.pid) and read_text(f"/proc/{pid}/cmdline"):
                    alive[pid] = read_text(f"/proc/{pid}/comm").strip()
            except (FileNotFoundError, ProcessLookupError):
                pass
        recorded = births()
        missed = [f"{comm}({pid}): {recorded.get(pid)}" for pid, comm in alive.items()
                  if not any(flags & BIRTH_WITNESSED for flags in recorded.get(pid, ())) and os.path.exists(f"/proc/{pid}")]
        assert not missed, f"not witnessed: {missed}"
        # TERM ends it at once and leaves tracking loaded.
        runner.signal(signal.SIGTERM)
        runner.wait_end()
        t.judged(server, "reap", "due")
        t.run("unload", config=False).done()
        assert not os.path.exists(PIN_DIR)
