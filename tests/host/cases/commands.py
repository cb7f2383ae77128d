# SPDX-License-Identifier: GPL-2.0-only
"""What the commands print: JSON as the contract has it, filters, the table, explain, check, doctor, help."""
import json
import os

from lib import kernel
from lib.case import LISTENREAP, NOBODY, SHIPPED, Skip, case, need_ipv6
from lib.play import listening_inodes

NUMBER = (int, float)
TOP = {"schema": int, "version": str, "hook": str, "tracking_since": str, "dropped": int, "mode": str, "listeners": list}
LISTENER = {
    "protocol": str, "family": str, "address": str, "port": int, "scope": str, "netns": int, "inode": int, "age_s": NUMBER, "age_exact": bool,
    "opener": dict, "holders": list, "anchor": (dict, type(None)), "orphan": str, "orphaned_s": (*NUMBER, type(None)),
    "connections": (int, type(None)), "verdict": str, "reason": str, "detail": str, "rule": (str, type(None)), "due_s": (*NUMBER, type(None)),
}
OPENER = {"pid": int, "comm": str, "argv": list, "uid": int, "alive": bool}
HOLDER = {"pid": int, "start": int, "comm": str, "exe": (str, type(None)), "argv": list, "uid": int, "user": str,
          "cgroup": (str, type(None))}
ANCHOR = {"pid": int, "comm": str, "kind": str, "alive": bool}
ACTION = {"pid": int, "port": int, "rule": str, "outcome": str, "signals": list, "took_ms": NUMBER}


def has_shape(value, shape):
    for key, kind in shape.items():
        assert key in value, f"no {key} in {value}"
        assert isinstance(value[key], kind), f"{key} is {value[key]!r}, not {kind}"
        assert kind is bool or not isinstance(value[key], bool), f"{key} is {value[key]!r}, not {kind}"


def leak(t, **options):
    agent = t.agent()
    server = t.server(agent, **options)
    agent.end()
    return server


@case
def json_has_the_contracts_shape(t):
    server, owned = leak(t, arguments=("one", "two words")), t.server(t.agent())
    output = t.run("status", "--json").done()
    assert output.err == "", output
    status = output.json
    has_shape(status, TOP)
    assert status["schema"] == 1 and status["mode"] == "enforce" and status["hook"] in ("fexit", "tracepoint"), status
    for row in status["listeners"]:
        has_shape(row, LISTENER)
        has_shape(row["opener"], OPENER)
        assert (row["due_s"] is None) == (row["verdict"] != "wait"), row
        for holder in row["holders"]:
            has_shape(holder, HOLDER)  # what ends just now has neither exe nor cgroup
        if row["anchor"]:
            has_shape(row["anchor"], ANCHOR)
            assert row["anchor"]["kind"] in ("agent", "person", "supervisor", "manager", "other"), row
    row = t.listener(server)
    program = t.play.stand_in("lr-server")
    argv = [program, "one", "two words"]
    assert row["opener"] == row["opener"] | {"pid": server.pid, "comm": "lr-server", "argv": argv, "uid": 0, "alive": True}, row
    (holder,) = row["holders"]
    start = int(open(f"/proc/{server.pid}/stat").read().rpartition(")")[2].split()[19])
    assert holder == holder | {"pid": server.pid, "start": start, "comm": "lr-server", "exe": program, "argv": argv,
                               "uid": 0, "user": "root"}, (holder, start)
    assert holder["cgroup"].startswith("/"), holder
    assert row["netns"] == os.stat("/proc/self/ns/net").st_ino
    assert t.listener(owned)["orphaned_s"] is None


@case
def json_of_a_sweep_has_actions_too(t):
    server = leak(t)
    sweep = t.sweep()
    status = sweep.json
    has_shape(status, TOP | {"actions": list})
    (act,) = status["actions"]
    has_shape(act, ACTION)
    assert act["pid"] == server.pid and act["rule"] == "server" and act["outcome"] == "reaped", act
    assert t.sweep().json["actions"] == []


@case
def json_without_listeners_is_an_empty_array(t):
    assert '"listeners":[]' in t.run("status", "--json", "--port", "1").done().out.replace(" ", "").replace("\n", "")


@case
def json_of_hostile_names(t):
    agent = t.agent()
    hostile = 'a"b\\c\nd\te\x1b[31m\x7f'
    server = t.server(agent, arguments=(hostile, os.fsdecode(b"\xff\xfe-bytes"), "\u202eright", "x" * 10000))
    server.do("name", 'n"\\\n\x1b) R 1')
    agent.end()
    row = t.listener(server)
    assert row["opener"]["argv"][1] == hostile, row["opener"]["argv"][:4]
    assert row["opener"]["argv"][2] == "\ufffd\ufffd-bytes", row["opener"]["argv"][:4]
    assert row["holders"][0]["pid"] == server.pid
    table = t.run("status", "--port", server.port).done().out
    assert "\x1b" not in table and "\x7f" not in table and "\u202e" not in table, repr(table)
    assert len(table.splitlines()) == 2, table
    explained = t.run("explain", f":{server.port}").done().out
    assert "\x1b" not in explained and "\x7f" not in explained, repr(explained)
    t.reaped(server)


# Filters


@case
def filters(t):
    need_ipv6()
    t.config(t.rule("server", "program = lr-server"), defaults="stale-after-exposed = 1h")
    agent, owner = t.agent(), t.agent()
    orphan, exposed, owned = t.server(agent), t.server(agent, address="0.0.0.0"), t.server(owner, address="::1")
    users = agent.spawn_actor("lr-server")
    users.do("setuid", NOBODY)
    users.listen(t.port())
    agent.end()
    ours = {orphan.inode, exposed.inode, owned.inode, users.inode}

    def shown(*words):
        return {row["inode"] for row in t.run("status", "--json", *words).done().json["listeners"]} & ours

    assert shown() == ours
    assert shown("--port", orphan.port) == {orphan.inode}
    assert shown(f"--port={orphan.port}") == {orphan.inode}
    assert shown("--pid", owned.pid) == {owned.inode}
    assert shown("--user", NOBODY) == {users.inode} == shown("--user", "nobody")
    assert shown("--user", "root") == ours - {users.inode}
    assert shown("--scope", "exposed") == {exposed.inode}
    assert shown("--scope", "loopback") == ours - {exposed.inode}
    assert shown("--orphan") == ours - {owned.inode}
    assert shown("--verdict", "reap") == {orphan.inode, users.inode}
    assert shown("--verdict", "wait") == {exposed.inode}
    assert shown("--verdict", "spare") == {owned.inode}
    assert shown("--verdict", "reap", "--user", "root", "--orphan") == {orphan.inode}


@case
def table_is_aligned_and_says_why(t):
    orphan, owned = leak(t), t.server(t.agent())
    for server, words in ((orphan, ("reap", "lr-server")), (owned, ("spare", "lr-agent"))):
        output = t.run("status", "--port", server.port).done()
        heading, row = output.out.splitlines()
        assert str(server.port) in row and str(server.pid) in row, output
        assert all(word in row for word in words), output
        assert "\x1b" not in output.out, "colour although stdout is no terminal"
        for flag in ("-H", "--no-header"):
            bare = t.run("status", flag, "--port", server.port).done().out.splitlines()
            assert len(bare) == 1 and str(server.port) in bare[0], bare
        assert heading.upper() == heading, heading
    assert t.run("status", "--port", 1).done().err == ""


def on_a_terminal(t, *words, env=()):
    """What it prints when stdout is a terminal."""
    terminal = t.actor("lr-terminal").pty(LISTENREAP, *map(str, words), "--pin-dir", t.pin_dir, "--config", t.config_path, env=env)
    text = ""
    while True:
        try:
            data = os.read(terminal.master, 65536)
        except OSError:  # EIO: nobody has the other end any more
            return text
        text += data.decode("utf-8", "replace")


@case
def table_has_colour_on_a_terminal_but_not_with_no_color(t):
    server = leak(t)
    text = on_a_terminal(t, "status", "--port", server.port)
    assert "\x1b[" in text and str(server.port) in text, repr(text)
    text = on_a_terminal(t, "status", "--port", server.port, env=["NO_COLOR=1"])
    assert "\x1b" not in text and str(server.port) in text, repr(text)


# explain


@case
def explain_names_the_deciding_facts(t):
    orphan = leak(t)
    agent = t.agent()
    owned, foreign = t.server(agent), t.server(agent, "lr-other")
    for server, words in ((orphan, ("lr-agent", "reap", "due", "server")), (owned, ("lr-agent", "anchor-alive", str(agent.pid))),
                          (foreign, ("no-rule", "lr-other"))):
        for operand in (f":{server.port}", str(server.pid)):
            output = t.run("explain", operand).done()
            assert output.err == "" and all(word in output.out for word in words), f"not all of {words} in {output!r}"
            text = json.dumps(t.run("explain", operand, "--json").done().json)
            assert all(word in text for word in words), f"not all of {words} in {text}"
    assert orphan.inode in listening_inodes(orphan.port)


@case
def explain_finds_nothing(t):
    client = t.actor("lr-client")
    t.run("explain", f":{t.port()}").exits(1).says_one_line()
    t.run("explain", client.pid).exits(1).says_one_line()
    t.run("explain", "2147483646").exits(1).says_one_line()


@case
def explain_shows_every_listener_of_a_port(t):
    agent, other, port = t.agent(), t.agent("lr-agent-other"), t.port()
    first, second = t.server(agent, port=port, options=("reuseport",)), t.server(other, port=port, options=("reuseport",))
    agent.end()
    output = t.run("explain", f":{port}").done()
    assert str(first.pid) in output.out and str(second.pid) in output.out, output


# check


@case(tracking=False)
def check_prints_rules_that_mean_the_same(t):
    t.config(t.rule("one", "program = a | b*", "argv = -m x ...", "argv = -y", "signal = INT", "grace = 3s", "in-use = reap"),
             t.rule("two", "script = s", "with = --a --b", "without = --c", "born-of = z", "action = report", "user = root", "scope = exposed"))
    first = t.run_bare("check", t.config_path).done()
    assert first.err == "" and "[rule one]" in first.out and "[rule two]" in first.out, first
    again = t.config_text(first.out, "again.conf")
    assert t.run_bare("check", again).done().out == first.out
    assert t.run("check", pin_dir=False).done().out == first.out


@case(tracking=False)
def check_of_the_shipped_file_is_the_built_in(t):
    path = t.config_text(open(SHIPPED).read(), "shipped.conf")
    shipped = t.run_bare("check", path).done()
    assert "[rule python-http-server]" in shipped.out, shipped
    if not os.path.exists("/etc/listenreap.conf"):
        built_in = t.run_bare("check").done()
        rules = [line for line in built_in.out.splitlines() if line.startswith("[rule ")]
        assert rules == [line for line in shipped.out.splitlines() if line.startswith("[rule ")]


@case(tracking=False)
def check_needs_no_privilege(t):
    t.run("check", pin_dir=False, preexec=kernel.become_nobody).done()


# doctor, help, version


@case
def doctor_is_content_where_tracking_loads(t):
    output = t.run_bare("doctor").done()
    assert len(output.out.splitlines()) >= 3, output
    assert "MISSING" not in output.out, output


@case
def doctor_names_what_is_missing(t):
    output = t.run_bare("doctor", preexec=kernel.become_nobody).exits(3)
    assert "root" in output.out, output


@case(tracking=False)
def help_and_version(t):
    assert t.run_bare("--version").done().out.startswith("listenreap ")
    output = t.run_bare("--help").done()
    for command in ("load", "unload", "status", "sweep", "explain", "check", "doctor"):
        assert command in output.out, output
        shown = t.run_bare(command, "--help").done()
        assert command in shown.out and "--pin-dir" in shown.out and shown.err == "", shown


@case
def a_full_disk_is_no_success(t):
    if not os.path.exists("/dev/full"):
        return
    for words in (["status"], ["status", "--json"]):
        output = t.run(*words, preexec=lambda: os.dup2(os.open("/dev/full", os.O_WRONLY), 1))
        assert output.code == 1, output


@case
def keep_by_hand(t):
    if "keep" not in t.run_bare("--help").out:
        raise Skip("keep comes with a later issue")
    server = leak(t)
    t.run("keep", f":{server.port}").done()
    t.spared(server, "opt-out")
    assert str(server.port) in t.run("keep", "--list").done().out
    t.run("keep", "--remove", f":{server.port}").done()
    t.reaped(server)
