# SPDX-License-Identifier: GPL-2.0-only
"""The leak this was made for, and everything that looks the same and is not one."""
import os

from lib.case import PYTHON, Process, case
from lib.play import boot_time, listening_inodes, pass_time_until

# python3 -m http.server PORT --bind 127.0.0.1, started through sh -c '... &'


@case
def http_server_of_an_ended_agent_is_reaped(t):
    agent = t.agent()
    server = t.http_server(agent)
    agent.end()
    t.reaped(server, orphan="yes", scope="loopback", address="127.0.0.1", anchor__kind="agent", anchor__pid=agent.pid, anchor__alive=False,
             signals=["TERM"])


@case
def http_server_of_a_live_agent_is_spared(t):
    agent = t.agent()
    server = t.http_server(agent)
    t.spared(server, "anchor-alive", agent, orphan="no", anchor__kind="agent", anchor__pid=agent.pid, anchor__alive=True)


@case
def the_first_sweep_after_it_is_due_reaps(t):
    t.config(defaults="stale-after = 3s\nstale-after-exposed = 3s")
    agent = t.agent()
    server = t.http_server(agent)
    agent.end()
    row = t.waits(server, ("young", "recently-orphaned"))
    assert 0 < row["due_s"] <= 3, row
    pass_time_until(boot_time() + row["due_s"])
    t.reaped(server)


@case
def http_server_of_a_script_whose_parent_program_lives_is_spared(t):
    tool = t.actor("lr-tool")
    script = t.play.file("serve.sh", f"{PYTHON} -m http.server $1 --bind 127.0.0.1 >$2 2>&1 &\necho pid $! >$2\n")
    server = t.http_server(tool, port=(port := t.port()), text=f"sh {script} {port} {{fifo}}; :")
    t.spared(server, "anchor-alive", tool, anchor__kind="other", anchor__pid=tool.pid)


@case
def http_server_of_a_script_whose_parent_program_and_agent_ended_is_reaped(t):
    agent = t.agent()
    tool = agent.spawn_actor("lr-tool")
    script = t.play.file("serve.sh", f"{PYTHON} -m http.server $1 --bind 127.0.0.1 >$2 2>&1 &\necho pid $! >$2\n")
    server = t.http_server(tool, port=(port := t.port()), text=f"sh {script} {port} {{fifo}}; :")
    agent.end()
    t.spared(server, "anchor-alive", tool, anchor__pid=tool.pid)
    tool.end()
    t.reaped(server, anchor__kind="agent", anchor__pid=agent.pid)


def http_server_in(t, shell):
    port, fifo = t.port(), t.play.fifo()
    shell.type(f"nohup {PYTHON} -m http.server {port} --bind 127.0.0.1 >{fifo.path} 2>&1 & echo pid $! >{fifo.path}\n")
    return t.serving(fifo, port)


@case
def http_server_under_a_live_interactive_shell_is_spared(t):
    emulator, shell = t.terminal()
    server = http_server_in(t, shell)
    t.spared(server, "anchor-alive", shell, emulator, anchor__kind="person", anchor__pid=shell.pid, anchor__alive=True)


@case
def http_server_of_a_shell_that_logged_out_is_an_operators_own(t):
    emulator, shell = t.terminal()
    server = http_server_in(t, shell)
    shell.leave()
    t.spared(server, "operator", emulator, orphan="yes", anchor__kind="person", anchor__pid=shell.pid, anchor__alive=False)


@case
def http_server_of_a_shell_that_logged_out_is_reaped_when_the_rule_says_so(t):
    t.config(defaults="operator = reap")
    emulator, shell = t.terminal()
    server = http_server_in(t, shell)
    t.spared(server, "anchor-alive", shell)
    shell.leave()
    t.reaped(server, alive=[emulator])


# cron, as Debian's: a child for each job that never execs, and below it sh -c 'the job'


def cron_runs(t, text):
    """(cron, its child, the job's shell, the server)"""
    cron = t.actor("lr-cron")
    child = cron.fork()
    port, fifo = t.port(), t.play.fifo()
    script = t.play.file("tick.sh", f"#!/bin/sh\n{text}\n".replace("{}", f"{PYTHON} -m http.server {port} --bind 127.0.0.1 >{fifo.path} 2>&1")
                         .replace("{fifo}", fifo.path), 0o755)
    shell = child.spawn("/bin/sh", "-c", script)
    return cron, child, shell, t.serving(fifo, port)


@case
def http_server_of_a_cron_job_that_ended_is_reaped(t):
    cron, child, shell, server = cron_runs(t, "{} & echo pid $! >{fifo}")
    shell.wait_end()
    child.end()
    t.reaped(server, alive=[cron])


@case
def http_server_of_a_cron_job_that_ended_is_reaped_though_crons_child_lives(t):
    cron, child, shell, server = cron_runs(t, "{} & echo pid $! >{fifo}")
    shell.wait_end()
    t.reaped(server, alive=[cron, child])


@case
def http_server_of_a_cron_job_that_still_runs_is_spared(t):
    cron, child, shell, server = cron_runs(t, "{} & echo pid $! >{fifo}\nmkfifo $0.wait\nread wait <$0.wait")
    t.spared(server, "anchor-alive", cron, child, shell, anchor__kind="manager", anchor__pid=cron.pid)


@case
def a_daemon_that_detached_itself_is_spared(t):
    t.config(t.rule("daemon", "program = lr-daemon"))
    cron = t.actor("lr-cron")
    first = cron.spawn_actor("lr-daemon")
    middle = first.fork()
    middle.do("setsid")
    daemon = middle.fork().listen(t.port())
    first.end(), middle.end()
    t.spared(daemon, "daemon", cron, orphan="no")


@case
def the_same_daemon_below_a_job_of_another_program_is_reaped(t):
    t.config(t.rule("daemon", "program = lr-daemon"))
    cron = t.actor("lr-cron")
    job = cron.spawn_actor("lr-job")
    first = job.spawn_actor("lr-daemon")
    middle = first.fork()
    middle.do("setsid")
    daemon = middle.fork().listen(t.port())
    first.end(), middle.end(), job.end()
    t.reaped(daemon, alive=[cron])


# Whoever adopted whom


@case
def below_a_subreaper_of_an_ended_agent_is_reaped(t):
    host = t.actor("lr-init")
    host.do("subreaper")
    agent = host.spawn_actor("lr-agent")
    server = t.http_server(agent)
    agent.end()
    assert server.parent() == host.pid
    t.reaped(server, alive=[host])


@case
def the_same_started_by_the_subreaper_itself_is_spared(t):
    host = t.actor("lr-init")
    host.do("subreaper")
    server = t.http_server(host)
    assert server.parent() == host.pid
    t.spared(server, "anchor-alive", host, anchor__kind="other", anchor__pid=host.pid)


@case(subreaper=False)
def adopted_by_pid_1_is_reaped(t):
    agent = t.agent()
    server = t.http_server(agent)
    agent.end()
    try:
        assert server.parent() not in (os.getpid(), os.getppid())  # 1, or what adopts above us
        t.reaped(server)
    finally:
        if not server.has_ended():
            server.kill()


@case(subreaper=False)
def adopted_by_pid_1_with_a_live_agent_is_spared(t):
    agent = t.agent()
    server = t.http_server(agent)
    try:
        t.spared(server, "anchor-alive", agent)
    finally:
        server.kill()


@case
def in_a_session_of_its_own_is_reaped(t):
    agent = t.agent()
    server = t.http_server(agent, text="setsid sh -c 'echo pid $$ >{fifo}; exec {} >{fifo} 2>&1' &")
    agent.end()
    t.reaped(server, anchor__pid=agent.pid)


@case
def in_a_session_of_its_own_with_a_live_agent_is_spared(t):
    agent = t.agent()
    server = t.http_server(agent, text="setsid sh -c 'echo pid $$ >{fifo}; exec {} >{fifo} 2>&1' &")
    t.spared(server, "anchor-alive", agent)


# npm run dev, with its sh -c

NPM_SERVER = """
const server = require('http').createServer((request, response) => response.end('here'));
server.listen(Number(process.env.PLAY_PORT), '127.0.0.1', () => {
  const fs = require('fs');
  const parent = fs.readFileSync(`/proc/${process.ppid}/stat`, 'utf8').split(') ')[1].split(' ')[1];
  fs.writeFileSync(process.env.PLAY_FIFO, `ready ${process.pid} ${process.ppid} ${parent}\\n`);
});
"""


def npm_runs(t, agent, script="node lr-npm-server.js; :"):
    """(server, sh, npm): what `npm run dev` made, started from a short-lived sh -c."""
    t.config(t.rule("npm-server", "program = node | nodejs", "script = lr-npm-server"))
    port, fifo = t.port(), t.play.fifo()
    t.play.file("project/package.json", '{"name": "play", "version": "1.0.0", "scripts": {"dev": "%s"}}' % script)
    t.play.file("project/lr-npm-server.js", NPM_SERVER)
    sh = agent.spawn("sh", "-c", f"cd {t.folder}/project && npm run dev >/dev/null 2>&1 &",
                     env=[f"PLAY_PORT={port}", f"PLAY_FIFO={fifo.path}", "npm_config_update_notifier=false", f"npm_config_cache={t.folder}/npm"])
    text = fifo.read_until(lambda text: "\n" in text, "npm run dev")
    sh.wait_end()
    server, shell, npm = (Process(pid) for pid in text.split()[1:4])
    server.port = port
    return t.find(server), shell, npm


@case(needs=("node", "npm"))
def npm_run_of_an_ended_agent_is_reaped_with_npm_and_its_sh(t):
    agent = t.agent()
    server, shell, npm = npm_runs(t, agent)
    agent.end()
    t.reaped(server, shell, npm)


@case(needs=("node", "npm"))
def npm_run_of_an_ended_agent_is_reaped_when_npm_was_killed(t):
    agent = t.agent()
    server, shell, npm = npm_runs(t, agent)
    agent.end()
    npm.kill()
    assert server.parent() == shell.pid
    t.reaped(server, shell)


@case(needs=("node", "npm"))
def npm_run_of_a_live_agent_is_spared(t):
    agent = t.agent()
    server, shell, npm = npm_runs(t, agent)
    t.spared(server, "anchor-alive", shell, npm, agent, anchor__pid=agent.pid)


@case(needs=("node", "npm"))
def npm_run_of_a_live_agent_is_spared_when_npm_was_killed(t):
    agent = t.agent()
    server, shell, npm = npm_runs(t, agent)
    npm.kill()
    t.spared(server, "anchor-alive", shell, agent, anchor__pid=agent.pid)


@case
def the_whole_orphaned_tree_and_nothing_above_it(t):
    host = t.actor("lr-init")
    host.do("subreaper")
    agent = host.spawn_actor("lr-agent")
    sibling = agent.spawn_actor("lr-other")
    shell, server = agent.shell_actor("lr-server", "{}; :")
    server.listen(t.port())
    helper = server.spawn_actor("lr-helper")
    grandchild = helper.spawn_actor("lr-helper")
    detached = grandchild.double_fork()
    agent.end()
    # What left the tree by a double fork is nobody's child any more: the host's now.
    assert detached.parent() == host.pid
    t.reaped(server, shell, helper, grandchild, alive=[host, sibling, detached])


# A reloader: the parent binds, the child that multiprocessing spawns listens, and its argv no longer says what it is

RELOADER = """
import multiprocessing, os, signal, socket, sys

def serve(listener, fifo):
    listener.listen()
    with open(fifo, "w") as ready:
        ready.write(f"ready {os.getpid()}\\n")
    signal.pause()

if __name__ == "__main__":
    listener = socket.socket()
    listener.bind(("127.0.0.1", int(sys.argv[1])))
    child = multiprocessing.get_context("spawn").Process(target=serve, args=(listener, sys.argv[2]))
    child.start()
    listener.close()
    child.join()
"""


def reloads(t, agent):
    """(the child that listens, its parent)"""
    t.config(t.rule("reloader", "program = python3*", "script = lr-reloader.py"))
    port, fifo = t.port(), t.play.fifo()
    parent = agent.spawn(PYTHON, t.play.file("lr-reloader.py", RELOADER), port, fifo.path)
    text = fifo.read_until(lambda text: "\n" in text, "the reloader's child")
    child = Process(text.split()[1])
    child.port = port
    return t.find(child), parent


@case
def reloader_and_its_child_of_an_ended_agent_are_reaped(t):
    agent = t.agent()
    child, parent = reloads(t, agent)
    t.judged(child, "spare", "anchor-alive", anchor__pid=agent.pid, rule="reloader")
    agent.end()
    t.reaped(child, parent)


@case
def reloaders_child_of_an_ended_agent_is_reaped_when_the_parent_was_killed(t):
    agent = t.agent()
    child, parent = reloads(t, agent)
    parent.kill()
    t.spared(child, "anchor-alive", agent, anchor__pid=agent.pid, rule="reloader")
    agent.end()
    t.reaped(child)


# What only looks like one


@case
def tail_of_a_log_with_that_name_is_never_touched(t):
    agent = t.agent()
    log = t.play.file("http-server.log", "python3 -m http.server\n")
    tail = agent.spawn("tail", "-F", log)
    editor_like = agent.spawn("sh", "-c", "while read line; do :; done", "http-reap.sh")
    grep = agent.spawn("grep", "-r", "http.server", t.play.fifo().path)
    agent.end()
    pids = {row["opener"]["pid"] for row in t.status()} | {holder["pid"] for row in t.status() for holder in row["holders"]}
    assert not pids & {tail.pid, grep.pid}
    t.sweep()
    t.are_alive([tail, grep])
    assert editor_like


@case(needs=("vim",))
def an_editor_on_a_file_with_that_name_is_never_touched(t):
    emulator = t.actor("lr-terminal")
    file = t.play.file("http-server.py", "import http.server\n")
    editor = emulator.pty("vim", "-n", "-u", "NONE", file)
    emulator.end()
    t.sweep()
    t.are_alive([editor])


LISTENS = ("import signal, socket, sys; s = socket.socket(); s.bind(('127.0.0.1', int(sys.argv[-1]))); s.listen(); "
           "open(sys.argv[-2], 'w').write('ready\\n'); signal.pause()")


def python_listens(t, agent, *argv):
    """python3 ARGV... FIFO PORT, which must run LISTENS."""
    port, fifo = t.port(), t.play.fifo()
    server = agent.spawn(PYTHON, *argv, fifo.path, port)
    fifo.read_until(lambda text: "ready" in text, "python")
    server.port = port
    return t.find(server)


@case
def http_server_elsewhere_in_argv_is_no_rules(t):
    t.config(t.rule("http", "program = python3*", "argv = -m http.server ..."))
    script = t.play.file("notes.py", LISTENS + "\n")
    agent = t.agent()
    agent.do("setenv", "PYTHONPATH", t.folder)
    behind_code = python_listens(t, agent, "-c", LISTENS, "-m", "http.server")
    behind_script = python_listens(t, agent, script, "-m", "http.server")
    one_token = python_listens(t, agent, "-c", LISTENS, "-m http.server")
    other_module = python_listens(t, agent, "-m", "notes", "-m", "http.server")
    other_name = t.server(agent, "lr-other", arguments=("-m", "http.server"))
    agent.end()
    for server in (behind_code, behind_script, one_token, other_module, other_name):
        t.spared(server, "no-rule", rule=None)


@case
def http_server_as_the_interpreters_module_is_the_rules(t):
    t.config(t.rule("http", "program = python3*", "argv = -m http.server ..."))
    for text in (f"{PYTHON} -s -X utf8 -W ignore -b -m http.server", f"{PYTHON} -mhttp.server"):
        agent = t.agent()
        port = t.port()
        server = t.http_server(agent, port, text=f"{text} {port} --bind 127.0.0.1 >{{fifo}} 2>&1 & echo pid $! >{{fifo}}")
        agent.end()
        if text.endswith("-mhttp.server"):
            t.config(t.rule("http", "program = python3*", "argv = -mhttp.server ..."))
        t.reaped(server)
        assert not listening_inodes(port)
