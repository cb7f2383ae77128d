# SPDX-License-Identifier: GPL-2.0-only
"""What a sweep does: TERM, CONT, the grace, KILL; whole trees; and nothing at all in a dry run or in observe mode."""
import os
import signal
import subprocess
import time

from lib.case import LISTENREAP, NOBODY, PYTHON, case
from lib.play import LIMIT, listening_inodes


def orphan(t, prepare=None):
    agent = t.agent()
    server = t.server(agent)
    if prepare:
        prepare(agent, server)
    agent.end()
    return server


def stop(agent, server):
    server.do("stop")
    agent.do("wait", server.pid)
    assert server.state() == "T"


def make_deaf_and_stop(agent, server):
    server.do("ignore", int(signal.SIGTERM))
    stop(agent, server)


@case
def who_heeds_term_gets_nothing_else(t):
    server = orphan(t)
    began = time.monotonic()
    t.reaped(server, signals=["TERM"])
    assert time.monotonic() - began < 9, "the grace was waited for although nobody was left"


@case
def who_ignores_term_is_killed_after_the_grace(t):
    t.config(defaults="grace = 2s")
    server = orphan(t)
    server.do("ignore", int(signal.SIGTERM))
    began = time.monotonic()
    output = t.reaped(server, signals=["TERM", "KILL"])
    assert time.monotonic() - began >= 2, "no grace was given"
    (act,) = output.json["actions"]
    assert act["took_ms"] >= 2000, act


@case
def a_stopped_one_dies(t):
    server = orphan(t, stop)
    t.reaped(server, signals=["TERM", "CONT"])


@case
def a_stopped_one_that_ignores_term_dies(t):
    t.config(defaults="grace = 1s")
    server = orphan(t, make_deaf_and_stop)
    t.reaped(server, signals=["TERM", "CONT", "KILL"])


@case
def a_child_forked_during_the_grace_dies_too(t):
    t.config(defaults="grace = 1s")
    server = orphan(t)
    late = t.play.name()
    server.do("on-term", "fork", late)
    t.reaped(server)
    assert t.play.enter(late).has_ended()


@case
def a_child_forked_during_the_grace_that_keeps_the_socket_dies_too(t):
    t.config(defaults="grace = 1s")
    server = orphan(t)
    late = t.play.name()
    server.do("on-term", "fork-and-exit", late)
    t.reaped(server)
    assert t.play.enter(late).has_ended()
    assert not listening_inodes(server.port)


@case
def a_grandchild_that_ignores_term_is_killed_when_the_holder_is_gone(t):
    t.config(defaults="grace = 1s")
    agent = t.agent()
    server = t.server(agent)
    helper = server.spawn_actor("lr-helper")
    helper.do("ignore", int(signal.SIGTERM))
    agent.end()
    t.reaped(server, helper)


@case
def the_rules_signal_comes_first(t):
    t.config(defaults="signal = INT\ngrace = 1s")
    server = orphan(t)
    t.reaped(server, signals=["INT"])
    # sh -c 'cmd &' ignores INT: the grace and KILL follow.
    agent = t.agent()
    server = t.http_server(agent)
    agent.end()
    t.reaped(server, signals=["INT", "KILL"])


@case
def a_server_with_threads_dies(t):
    agent = t.agent()
    server = t.server(agent)
    server.do("leader-exit")
    agent.end()
    t.reaped(server, signals=["TERM"])


@case
def many_trees_in_one_sweep(t):
    agent = t.agent()
    servers = [t.server(agent) for _ in range(10)]
    helpers = [server.spawn_actor("lr-helper") for server in servers]
    agent.end()
    output = t.reaped(servers[0], *servers, *helpers)
    assert sorted(act["pid"] for act in output.json["actions"]) == sorted(server.pid for server in servers), output


@case
def one_sweep_waits_for_all_graces_together(t):
    t.config(defaults="grace = 2s")
    agent = t.agent()
    servers = [t.server(agent) for _ in range(5)]
    for server in servers:
        server.do("ignore", int(signal.SIGTERM))
    agent.end()
    began = time.monotonic()
    t.reaped(servers[0], *servers)
    assert time.monotonic() - began < 9, "graces were waited for one after another"


@case
def the_act_is_one_structured_line(t):
    agent = t.agent()
    secret = "hunter2-" + t.play.name()
    server = t.server(agent, arguments=("--port", "1", f"--token={secret}"), env=[f"LR_SECRET=env-{secret}"])
    agent.end()
    t.config(t.rule("server", "program = lr-server", "argv = --port * ..."))
    output = t.reaped(server)
    lines = [line for line in output.err.splitlines() if str(server.port) in line]
    assert len(lines) == 1, output
    (line,) = lines
    assert line[0] == "<" and line[2] == ">", "no journald priority: " + line
    for fact in ("server", str(server.pid), str(server.port), "reaped", "lr-agent", "TERM"):
        assert fact in line, f"no {fact} in {line}"
    assert "env-" not in output.err and f"env-{secret}" not in output.out, output
    assert secret not in line, "argv beyond what the rule matched: " + line


@case
def argv_in_the_log_is_escaped(t):
    t.config(t.rule("server", "program = lr-server", "argv = ..."))
    agent = t.agent()
    server = t.server(agent, arguments=("a\nb\x1b[31m", "c"))
    agent.end()
    output = t.reaped(server)
    assert "\x1b" not in output.err and len([line for line in output.err.splitlines() if str(server.pid) in line]) == 1, output


def starts_sweep(t):
    return subprocess.Popen([LISTENREAP, "sweep", "--json", "--pin-dir", t.pin_dir, "--config", t.config_path], env=t.environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@case
def a_sweep_killed_during_the_grace_is_finished_by_the_next(t):
    t.config(defaults="grace = 1h")
    server = orphan(t)
    late = t.play.name()
    server.do("on-term", "fork", late)
    sweep = starts_sweep(t)
    child = t.play.enter(late)  # TERM has come
    sweep.kill()
    sweep.communicate(timeout=LIMIT)
    t.are_alive([server, child])
    t.config(defaults="grace = 1s")
    t.reaped(server, child)


@case
def two_sweeps_at_once(t):
    agent = t.agent()
    servers = [t.server(agent) for _ in range(5)]
    agent.end()
    sweeps = [starts_sweep(t) for _ in range(3)]
    said = [(sweep.communicate(timeout=LIMIT), sweep.returncode) for sweep in sweeps]
    assert [code for _, code in said] == [0, 0, 0], said
    assert all(server.has_ended() for server in servers), said


@case
def a_tree_that_ends_by_itself_before_the_sweep_is_no_failure(t):
    server = orphan(t)
    t.judged(server, "reap", "due")
    server.end()
    assert [act for act in t.sweep().json["actions"] if act["port"] == server.port] == []


# A dry run and observe mode signal nobody


def watched_leak(t):
    """(server, helper, script): each notes every signal that comes, so none can come unseen. The shell notes them when {} has ended."""
    agent = t.agent()
    script, server = agent.script_actor("lr-server", f"trap 'echo trapped >>{t.folder}/trapped' HUP INT QUIT TERM USR1 USR2 CONT\n{{}} &\n"
                                        "while :; do wait; done")
    server.listen(t.port())
    helper = server.spawn_actor("lr-helper")
    server.do("watch-signals"), helper.do("watch-signals")
    agent.end()
    return server, helper, script


def nobody_was_signalled(t, server, helper, script):
    t.are_alive([server, helper, script])
    assert server.do("signals") == [] and helper.do("signals") == [], (server.do("signals"), helper.do("signals"))
    assert not os.path.exists(t.folder + "/trapped"), "the script was signalled"
    assert server.inode in listening_inodes(server.port)


@case
def dry_run_signals_nobody(t):
    server, helper, script = watched_leak(t)
    for words in (["--dry-run"], ["--dry-run"]):
        output = t.sweep(*words)
        t.was_reaped(output, server, outcome="would-reap")
        nobody_was_signalled(t, server, helper, script)
    t.run("sweep", "--dry-run").done()
    nobody_was_signalled(t, server, helper, script)
    t.judged(server, "reap", "due")


@case
def observe_mode_signals_nobody(t):
    t.config(settings="mode = observe")
    server, helper, script = watched_leak(t)
    row = t.judged(server, "reap", "due")
    output = t.sweep()
    assert output.json["mode"] == "observe", output
    t.was_reaped(output, server, outcome="would-reap")
    nobody_was_signalled(t, server, helper, script)
    assert row["orphan"] == "yes"


@case
def the_same_for_real_signals_all(t):
    t.config(defaults="grace = 1s")
    server, helper, script = watched_leak(t)
    t.reaped(server, helper, script, signals=["TERM", "KILL"])
    assert os.path.exists(t.folder + "/trapped")


@case
def a_dry_run_is_no_stop_that_a_respawn_could_follow(t):
    server, helper, script = watched_leak(t)
    t.sweep("--dry-run")
    port = server.port
    for process in (script, helper, server):
        process.kill()
    agent = t.agent()
    again = t.server(agent, port=port)
    agent.end()
    t.reaped(again)


@case
def a_server_of_another_user_is_reaped_with_real_http(t):
    agent = t.agent()
    agent.do("setuid", NOBODY)
    port = t.port()
    command = f"cd / && exec 3>{{fifo}} && {PYTHON} -m http.server {port} --bind 127.0.0.1 >&3 2>&1 & echo pid $! >{{fifo}}"
    server = t.http_server(agent, port, command)
    agent.end()
    row = t.listener(server)
    assert row["opener"]["uid"] == NOBODY and row["holders"][0]["uid"] == NOBODY, row
    t.reaped(server)
