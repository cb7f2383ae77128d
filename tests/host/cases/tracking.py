# SPDX-License-Identifier: GPL-2.0-only
"""load, unload and the pins: twice, both at once, killed half-way, and never in the way of reading."""
import os
import random
import signal
import subprocess

from lib import kernel
from lib.case import LISTENREAP, case
from lib.play import LIMIT, boot_time, wait_readable


def pins(t):
    """All there is below the bpf filesystem of this case, but for the kernel's own maps.debug and progs.debug."""
    top = os.path.dirname(t.pin_dir)
    return sorted(os.path.relpath(os.path.join(folder, name), top)
                  for folder, folders, files in os.walk(top) for name in folders + files if not name.endswith(".debug"))


@case
def load_and_unload_leave_nothing(t):
    t.own_tracker(loaded=False)
    assert t.load().out == ""
    assert pins(t), "nothing is pinned"
    t.status()
    t.run("unload", config=False).done()
    assert pins(t) == []


@case
def load_twice_changes_nothing(t):
    t.own_tracker()
    server = t.server(t.agent())
    before, since = pins(t), t.run("status", "--json").done().json["tracking_since"]
    assert t.load().err == ""
    assert pins(t) == before
    row = t.listener(server)
    assert row["age_exact"] and t.run("status", "--json").done().json["tracking_since"] == since, row


@case
def unload_twice_is_fine(t):
    t.own_tracker()
    for _ in range(2):
        t.run("unload", config=False).done()
    assert pins(t) == []


@case
def unload_of_what_was_never_loaded_is_fine(t):
    t.own_tracker(loaded=False)
    t.run("unload", config=False).done()
    assert pins(t) == []


@case
def two_loads_at_once(t):
    t.own_tracker(loaded=False)
    for count in (2, 12):
        loads = [subprocess.Popen([LISTENREAP, "load", "--pin-dir", t.pin_dir], env=t.environment, stderr=subprocess.PIPE)
                 for _ in range(count)]
        said = [(load.communicate(timeout=LIMIT)[1], load.returncode) for load in loads]
        assert [code for _, code in said] == [0] * count, said
        agent = t.agent()
        server = t.server(agent)
        agent.end()
        t.reaped(server, age_exact=True)
        t.run("unload", config=False).done()
        assert pins(t) == []


@case
def load_and_unload_at_once(t):
    t.own_tracker(loaded=False)
    runs = [subprocess.Popen([LISTENREAP, word, "--pin-dir", t.pin_dir], env=t.environment, stderr=subprocess.PIPE)
            for word in ("load", "unload") * 5]
    said = [(run.args[1], run.communicate(timeout=LIMIT)[1], run.returncode) for run in runs]
    assert all(code == 0 for _, _, code in said), said
    t.load()
    t.status()
    t.run("unload", config=False).done()
    assert pins(t) == []


@case
def a_load_killed_at_a_random_moment_does_no_harm(t):
    t.own_tracker(loaded=False)
    dice = random.Random(t.first_port)
    began = boot_time()
    t.load()
    took = boot_time() - began
    t.run("unload", config=False).done()
    for _ in range(15):
        load = subprocess.Popen([LISTENREAP, "load", "--pin-dir", t.pin_dir], env=t.environment, stderr=subprocess.DEVNULL)
        pidfd = os.pidfd_open(load.pid)
        try:
            wait_readable(pidfd, "", dice.uniform(0, took))
        except AssertionError:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        load.wait()
        os.close(pidfd)
        t.load()
        agent = t.agent()
        server = t.server(agent)
        t.judged(server, "spare", "anchor-alive", age_exact=True)
        agent.end(), server.end()
        if dice.random() < 0.5:
            t.run("unload", config=False).done()
            assert pins(t) == []


@case
def an_unload_killed_at_a_random_moment_does_no_harm(t):
    t.own_tracker(loaded=False)
    dice = random.Random(t.first_port)
    for _ in range(10):
        t.load()
        unload = subprocess.Popen([LISTENREAP, "unload", "--pin-dir", t.pin_dir], env=t.environment, stderr=subprocess.DEVNULL)
        pidfd = os.pidfd_open(unload.pid)
        try:
            wait_readable(pidfd, "", dice.uniform(0, 0.01))
        except AssertionError:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        unload.wait()
        os.close(pidfd)
    t.load()
    t.status()
    t.run("unload", config=False).done()
    assert pins(t) == []


@case
def two_pin_dirs_are_two_trackers(t):
    t.own_tracker()
    first = t.pin_dir
    server = t.server(t.agent())
    t.pin_dir = first + "2"
    t.load()
    assert t.listener(server)["age_exact"] is False
    t.run("unload", config=False).done()
    t.pin_dir = first
    assert t.listener(server)["age_exact"] is True


@case
def status_loads_no_program(t):
    t.own_tracker()
    agent = t.agent()
    server = t.server(agent)
    agent.end()
    forbidden = dict(preexec=kernel.forbid_program_loading)
    for words in (["status", "--json"], ["status"], ["explain", f":{server.port}"], ["sweep", "--dry-run"], ["sweep"]):
        t.run(*words, **forbidden).done()
    assert server.has_ended()


@case
def load_does_and_that_is_noticed(t):
    t.own_tracker(loaded=False)
    output = t.run("load", config=False, preexec=kernel.forbid_program_loading)
    assert output.code == -signal.SIGSYS, output
    assert pins(t) == []


@case
def status_when_nothing_is_loaded_says_so_and_loads_nothing(t):
    t.own_tracker(loaded=False)
    for words in (["status"], ["status", "--json"], ["explain", ":1"]):
        t.run(*words).exits(1, 3).says_one_line("load")
    assert pins(t) == []


@case
def sweep_loads_tracking_when_it_is_not_loaded(t):
    t.own_tracker(loaded=False)
    t.sweep()
    assert pins(t)
    agent = t.agent()
    server = t.server(agent)
    agent.end()
    t.reaped(server, age_exact=True)


@case
def tracking_survives_whoever_loaded_it(t):
    """Nobody of ours runs, and still births, ends and listens are recorded."""
    t.own_tracker()
    agent = t.agent()
    server = t.server(agent)
    agent.end()
    row = t.judged(server, "reap", "due", age_exact=True, anchor__pid=agent.pid, anchor__kind="agent")
    assert row["opener"]["pid"] == server.pid and row["opener"]["comm"] == "lr-server", row


@case
def listeners_from_before_have_an_age_of_at_least(t):
    t.own_tracker(loaded=False)
    agent = t.agent()
    server = t.server(agent)
    t.load()
    row = t.listener(server)
    assert row["age_exact"] is False and 0 <= row["age_s"] < 60, row
    later = t.server(agent)
    assert t.listener(later)["age_exact"] is True


@case
def ended_processes_leave_nothing_behind(t):
    """Births are kept until the last descendant is gone, and no longer: the table does not fill up."""
    t.own_tracker()
    agent = t.agent()
    for _ in range(20):
        agent.do("wait", agent.spawn("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do (:) & done; wait").pid)
    agent.end()
    assert t.run("status", "--json").done().json["dropped"] == 0


@case
def the_pins_are_roots_alone(t):
    t.own_tracker()
    top = t.pin_dir
    for folder, folders, files in os.walk(top):
        for name in [folder, *(os.path.join(folder, name) for name in folders + files)]:
            status = os.stat(name)
            assert status.st_uid == 0 and status.st_mode & 0o022 == 0, (name, oct(status.st_mode))


@case
def status_holds_no_lock_that_a_killed_one_could_keep(t):
    t.own_tracker()
    stopped = subprocess.Popen([LISTENREAP, "status", "--pin-dir", t.pin_dir, "--config", t.config_path], env=t.environment,
                               stdout=subprocess.PIPE)
    stopped.send_signal(signal.SIGSTOP)
    t.status()
    t.sweep()
    t.load()
    stopped.send_signal(signal.SIGCONT)
    stopped.communicate(timeout=LIMIT)
    assert stopped.returncode == 0


@case
def hook_and_counters_are_shown(t):
    shown = t.run("status", "--json").done().json
    assert shown["hook"] in ("fexit", "tracepoint") and isinstance(shown["dropped"], int), shown
