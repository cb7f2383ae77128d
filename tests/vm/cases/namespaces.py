# SPDX-License-Identifier: GPL-2.0-only
"""Listeners in other namespaces, and listenreap itself in one."""
import ctypes
import os
import subprocess

from lib import kernel
from lib.case import LISTENREAP, Skip, case
from lib.play import LIMIT
from vm.refusal import KERNEL

CLONE_NEWTIME = 0x80


def run_in(t, *unshare_words, words=("status",)):
    """One command of listenreap as unshare starts it."""
    command = ["unshare", *unshare_words, LISTENREAP, *words, "--pin-dir", t.pin_dir]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, env=t.environment)
    return done.returncode, done.stdout, done.stderr


def refuses_inside(t, word, *unshare_words):
    for words in (["load"], ["status"], ["status", "--json"], ["sweep", "--config", t.config_path], ["run", "--config", t.config_path]):
        code, out, err = run_in(t, *unshare_words, words=words)
        assert code == 3 and out == "" and len(err.splitlines()) == 1 and word in err, (words, code, out, err)


if KERNEL >= (5, 12):
    @case(needs=("unshare",))
    def in_another_pid_namespace_it_refuses(t):
        agent = t.agent()
        server = t.server(agent)
        agent.end()
        t.judged(server, "reap", "due")
        refuses_inside(t, "pid namespace", "--pid", "--fork", "--mount-proc")
        refuses_inside(t, "pid namespace", "--pid", "--fork")
        t.are_alive([server])

    @case(needs=("unshare",))
    def in_another_time_namespace_it_refuses(t):
        if not os.path.exists("/proc/self/ns/time"):
            raise Skip("no time namespaces in this kernel")
        refuses_inside(t, "time namespace", "--time", "--boottime", "100000", "--fork")

    @case(needs=("unshare",))
    def in_a_container_it_refuses(t):
        refuses_inside(t, "pid namespace", "--pid", "--fork", "--mount-proc", "--net", "--ipc", "--uts", "--cgroup")

    @case(needs=("unshare",))
    def in_another_network_namespace_it_sees_and_reaps_the_hosts(t):
        """Which network namespace it runs in plays no part."""
        agent = t.agent()
        server = t.server(agent)
        agent.end()
        code, out, err = run_in(t, "--net", words=["status", "--json", "--port", str(server.port), "--config", t.config_path])
        assert code == 0 and str(server.inode) in out, (code, out, err)

    @case
    def many_network_namespaces_each_with_the_same_port(t):
        agent = t.agent()
        port, servers = t.port(), {}
        for _ in range(8):
            server = agent.spawn_actor("lr-server")
            netns = int(server.do("unshare-net")[0])
            servers[netns] = server.listen(port)
        agent.end()
        rows = t.status(port)
        assert {row["netns"]: row["inode"] for row in rows} == {netns: server.inode for netns, server in servers.items()}, rows
        assert all(row["verdict"] == "spare" and row["reason"] == "namespace" for row in rows), rows
        t.sweep()
        t.are_alive(servers.values())
        t.config(t.rule("server", "program = lr-server", "netns = any"))
        t.sweep()
        assert all(server.has_ended() for server in servers.values())

    @case
    def inits_of_other_pid_namespaces_are_never_touched(t):
        """Three deep, each init a listener that a rule names in any namespace."""
        agent = t.agent()
        inits, launcher = [], agent
        for _ in range(3):
            launcher = launcher.spawn_actor("lr-tool")
            launcher.do("unshare-pid")
            launcher = launcher.spawn_actor("lr-server").listen(t.port())
            inits.append(launcher)
        agent.end()
        t.config(t.rule("server", "program = lr-server", "pidns = any"))
        for init in inits:
            t.judged(init, "spare")
        t.sweep()
        t.are_alive(inits)
