# SPDX-License-Identifier: GPL-2.0-only
"""Over deaths, restarts and upgrades of ours: no listener lost, no age reset, no moment without hooks."""
import datetime
import os
import random
import signal
import subprocess

from lib.case import LISTENREAP, PYTHON, Skip, case
from lib.play import LIMIT, boot_time, wait_readable
from vm.levels import runs_instead
from vm.refusal import KERNEL

# The same program with the next layout number (tests/vm/run builds it): for it, our pins are an older layout's.
NEXT = os.environ.get("LISTENREAP_NEXT", os.path.dirname(LISTENREAP) + "/listenreap-next")

# Opens a listener every millisecond and keeps the last 400; prints "inode opened_boot_ns" of those on EOF of its input.
OPENER = """
import collections, os, select, socket, sys, time
kept = collections.deque(maxlen=400)
print("ready", flush=True)
while not select.select([0], [], [], 0.001)[0]:
    one = socket.socket()
    one.bind(("127.0.0.1", 0))
    one.listen(1)
    kept.append((one, time.clock_gettime_ns(time.CLOCK_BOOTTIME)))
for one, opened in kept:
    print(os.fstat(one.fileno()).st_ino, opened)
print("done", flush=True)
os.read(0, 1), sys.stdin.read()
"""


class Opener:
    def __init__(self, t):
        self.t = t
        self.popen = subprocess.Popen([PYTHON, "-c", OPENER], env=t.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.popen.stdout.readline() == "ready\n"

    def stop(self):
        """{inode: when it was opened}"""
        self.popen.stdin.write("x")
        self.popen.stdin.flush()
        opened = {}
        for line in iter(self.popen.stdout.readline, "done\n"):
            inode, when = line.split()
            opened[int(inode)] = int(when) / 1e9
        return opened

    def all_are_witnessed(self, opened):
        asked = boot_time()
        shown = self.t.run("status", "--json").done().json
        status = shown["listeners"]
        rows = {row["inode"]: row for row in status if row["opener"] and row["opener"]["pid"] == self.popen.pid}
        lost = [inode for inode in opened if inode not in rows]
        vague = [inode for inode in opened if inode in rows and not rows[inode]["age_exact"]]
        wrong = [inode for inode, when in opened.items() if inode in rows and not is_age(rows[inode]["age_s"], when, asked)]
        blank = [row for row in status if row["inode"] in lost]
        assert opened and not lost and not vague and not wrong, \
            f"of {len(opened)}: {len(lost)} without their opener, {len(vague)} with an age of at least, {len(wrong)} with a wrong one; " \
            f"missed {shown['missed']}; shown without opener: {blank[:2]}"

    def close(self):
        self.popen.stdin.close()
        self.popen.wait()


def is_age(age_s, opened, asked):
    """Right for what opened then, by a status asked for at `asked` and done by now; the opener read its clock a little later."""
    return asked - opened - 0.1 <= age_s <= boot_time() - opened + 1


def has_its_age(t, server, **facts):
    asked = boot_time()
    row = t.judged(server, "spare", "anchor-alive", age_exact=True, opener__pid=server.pid, **facts)
    assert is_age(row["age_s"], server.opened, asked), row


def tracking_since(t):
    return datetime.datetime.fromisoformat(t.run("status", "--json").done().json["tracking_since"].replace("Z", "+00:00")).timestamp()


def kill_after(popen, seconds):
    pidfd = os.pidfd_open(popen.pid)
    try:
        wait_readable(pidfd, "", seconds)
    except AssertionError:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    popen.wait()
    os.close(pidfd)


def start(t, *words, binary=LISTENREAP):
    return subprocess.Popen([binary, *words, "--pin-dir", t.pin_dir, "--config", t.config_path], env=t.environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if KERNEL >= (5, 12):
    @case(slow=True)
    def run_killed_at_random_moments_loses_nothing(t):
        t.own_tracker()
        since = tracking_since(t)
        agent = t.agent()
        server = t.server(agent)
        dice = random.Random(1)
        opener = Opener(t)
        for _ in range(8):
            kill_after(start(t, "run"), dice.uniform(0, 1.5))
        opened = opener.stop()
        assert abs(tracking_since(t) - since) <= 1, "tracking began anew"
        opener.all_are_witnessed(opened)
        opener.close()
        has_its_age(t, server)
        agent.end()
        t.reaped(server)

    @case(slow=True)
    def loads_at_once_and_again_leave_no_moment_without_hooks(t):
        t.own_tracker()
        opener = Opener(t)
        for _ in range(3):
            loads = [subprocess.Popen([LISTENREAP, "load", "--pin-dir", t.pin_dir], env=t.environment, stderr=subprocess.PIPE) for _ in range(4)]
            said = [(load.communicate(timeout=LIMIT)[1], load.returncode) for load in loads]
            assert [code for _, code in said] == [0] * 4, said
        opened = opener.stop()
        opener.all_are_witnessed(opened)
        opener.close()

    @case(slow=True)
    def an_upgrade_over_an_older_layouts_pins_loses_nothing(t):
        """Make before break: births and ages are carried over, and a listener opened every millisecond is always witnessed."""
        if not os.access(NEXT, os.X_OK):
            raise Skip(f"no {NEXT}: it could not be built")
        t.own_tracker()
        (older,) = os.listdir(t.pin_dir)
        ended = t.agent()
        orphan = t.server(ended)  # at the first port: a failure explains that
        agent = t.agent()
        servers = [t.server(agent) for _ in range(3)]
        ended.end()
        t.judged(orphan, "reap", "due", anchor__pid=ended.pid)
        opener = Opener(t)
        older_run = t.run_bare
        runs_instead(t, NEXT)
        t.run("load", config=False).done()
        (newer,) = os.listdir(t.pin_dir)
        assert newer != older, newer
        opened = opener.stop()
        opener.all_are_witnessed(opened)
        opener.close()
        for server in servers:
            has_its_age(t, server, anchor__pid=agent.pid)
        t.reaped(orphan, anchor__pid=ended.pid)
        # The older program leaves alone what it does not know, and says so.
        older_run("status", "--pin-dir", t.pin_dir, "--config", t.config_path).exits(1, 3).says_one_line("load")
        assert os.listdir(t.pin_dir) == [newer]
        agent.end()
        t.reaped(servers[0])
        t.run("unload", config=False).done()

    @case(slow=True)
    def an_upgrade_killed_at_a_random_moment_loses_nothing(t):
        if not os.access(NEXT, os.X_OK):
            raise Skip(f"no {NEXT}: it could not be built")
        dice = random.Random(2)
        t.own_tracker()
        agent = t.agent()
        server = t.server(agent)
        for _ in range(4):
            kill_after(start(t, "load", binary=NEXT), dice.uniform(0, 0.8))
        runs_instead(t, NEXT)
        t.run("load", config=False).done()
        has_its_age(t, server, anchor__pid=agent.pid)
        t.run("unload", config=False).done()
