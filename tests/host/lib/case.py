# SPDX-License-Identifier: GPL-2.0-only
"""A case: one situation, what listenreap must say about it, and what must have happened to it afterwards."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys

from lib.play import LIMIT, Play, Process, listening_inodes, read_text

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
LISTENREAP = os.environ.get("LISTENREAP", TOP + "/.output/listenreap")
ACTOR = os.environ.get("LR_ACTOR", TOP + "/.output/tests/actor")
SHIPPED = TOP + "/user/etc/listenreap.conf"
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
NOBODY = 65534

# Nothing of the caller's environment may opt out, colour or configure.
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LANG": "C.UTF-8", "HISTFILE": "/dev/null", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "TERM": "dumb",
}


class Skip(Exception):
    """Why this cannot be tried here."""


class Registry:
    """Cases in the order of their definition."""

    def __init__(self):
        self.cases = []

    def __call__(self, function=None, **options):
        """@case or @case(needs=("node", "npm"), slow=True, tracking=False, subreaper=False)"""
        if function is None:
            return lambda later: self(later, **options)
        module = function.__module__.rpartition(".")[2]
        self.cases.append((f"{module}.{function.__name__}", function, options))
        return function


case = Registry()


class Output:
    """What one run of listenreap gave."""

    def __init__(self, words, code, out, err):
        self.words, self.code, self.out, self.err = words, code, out, err

    def __repr__(self):
        out = self.out
        if "--json" in self.words:
            try:
                out = json.dumps({key: value for key, value in json.loads(out).items() if key != "listeners"})
            except ValueError:
                pass
        return f"`{' '.join(self.words)}` -> {self.code}\n--- stdout\n{out[-2000:]}\n--- stderr\n{self.err[-2000:]}"

    @property
    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise AssertionError(f"not JSON ({error}): {self!r}") from None

    def done(self):
        return self.exits(0)

    def exits(self, *codes):
        assert self.code in codes, f"exit code {self.code}, not {' or '.join(map(str, codes))}: {self!r}"
        return self

    def says_one_line(self, *words):
        """One line on stderr that has these words, nothing on stdout."""
        lines = self.err.splitlines()
        assert len(lines) == 1 and self.err.endswith("\n"), f"not one line on stderr: {self!r}"
        assert self.out == "", f"something on stdout: {self!r}"
        for word in words:
            assert word.lower() in self.err.lower(), f"no {word!r} on stderr: {self!r}"
        return self


class Case:
    """Given to each case as its only argument."""

    def __init__(self, name, folder, ports, pin_dir):
        self.name, self.folder, self.pin_dir = name, folder, pin_dir
        self.first_port, self.last_port = ports
        self.next_port = self.first_port
        os.makedirs(folder, mode=0o755)
        self.play = Play(folder, ACTOR)
        self.environment = dict(ENVIRONMENT, LR_CONTROL=folder + "/control", HOME=folder)
        os.environ.clear()
        os.environ.update(self.environment)
        os.chdir(folder)
        self.config_path = folder + "/listenreap.conf"
        self.config()

    # Config. Its own stand-ins are all the keepers there are; its rules reach no further than its own ports.

    def rule(self, name, *lines):
        body = "\n".join(lines)
        ports = "" if "port =" in body else f"port = {self.first_port}-{self.last_port}\n"
        return f"[rule {name}]\n{body}\n{ports}"

    def config(self, *rules, agents="lr-agent | lr-agent-*", people="lr-person", supervisors="lr-supervisor", managers="lr-cron", boot="0",
               settings="", defaults="", more=""):
        values = {"stale-after": "0", "stale-after-exposed": "0", "grace": "10s"}
        for line in defaults.splitlines():
            key, _, value = line.partition("=")
            values[key.strip()] = value.strip()
        mode = "" if "mode =" in settings else "mode = enforce\n"
        rules = rules or (self.rule("server", "program = lr-server"), self.rule("http", "program = python3*", "argv = -m http.server ..."))
        return self.config_text(f"""\
[listenreap]
{mode}{settings}
[defaults]
{chr(10).join(f"{key} = {value}" for key, value in values.items())}
{chr(10).join(rules)}
[agents]
shipped = no
program = {agents}
[people]
shipped = no
program = {people}
[supervisors]
shipped = no
program = {supervisors}
[managers]
shipped = no
program = {managers}
boot = {boot}
{more}
""")

    def config_text(self, text, name="listenreap.conf"):
        return self.play.file(name, text)

    def shipped_config(self, agents="lr-agent", defaults="stale-after = 0\nstale-after-exposed = 0"):
        """The shipped rules as they are, but for our own ports, our own agents and no waiting."""
        text, section, kept = read_text(SHIPPED), "", []
        for line in text.splitlines():
            if line.startswith("["):
                section = line.strip("[] ")
                if section.split()[0] in ("agents", "people", "supervisors", "managers"):
                    section = "dropped"
            if section == "dropped" or (section == "defaults" and line.startswith("stale-after")):
                continue
            kept.append(line)
            if line.startswith("[rule "):
                kept.append(f"port = {self.first_port}-{self.last_port}")
            if line.startswith("[defaults]"):
                kept.append(defaults)
        kept += ["[agents]", "shipped = no", f"program = {agents}", "[people]", "shipped = no", "program = lr-person",
                 "[supervisors]", "shipped = no", "program = lr-supervisor", "[managers]", "shipped = no", "program = lr-cron"]
        return self.config_text("\n".join(kept) + "\n")

    def port(self):
        while True:
            port, self.next_port = self.next_port, self.next_port + 1
            if port > self.last_port:
                raise Skip("no free port is left in this case's range")
            if not listening_inodes(port) and can_bind(port):
                return port

    def own_tracker(self, loaded=True):
        """For what concerns tracking itself: pins in a bpf filesystem of the case's own. The guard unmounts it."""
        mount = self.folder + "/bpf"
        os.mkdir(mount)
        subprocess.run(["mount", "-t", "bpf", "bpf", mount], check=True)
        self.pin_dir = mount + "/pins"
        if loaded:
            self.load()

    def load(self):
        return self.run("load", config=False).done()

    # Who is on stage

    def actor(self, name="lr-agent", owner=None, env=()):
        """A stand-in, started by the test itself (whose python3 lives on: above an agent it plays no part)."""
        identity = self.play.name()
        program = self.play.stand_in(name, owner)
        popen = subprocess.Popen([program], env=dict(self.environment, LR_ID=identity, **dict(pair.split("=", 1) for pair in env)),
                                 stdin=subprocess.DEVNULL)
        actor = self.play.enter(identity)
        actor.popen = popen
        return actor

    def agent(self, name="lr-agent"):
        return self.actor(name)

    def server(self, parent, name="lr-server", address="127.0.0.1", port=None, arguments=(), env=(), options=()):
        """A stand-in that listens, a child of parent."""
        return parent.spawn_actor(name, *arguments, env=env).listen(port or self.port(), address, *options)

    def http_server(self, parent, port=None, text=None, bind="127.0.0.1", program=PYTHON):
        """python3 -m http.server, started by parent through `sh -c '... &'`: the real thing. Returns it; sh has ended."""
        port, fifo = port or self.port(), self.play.fifo()
        command = f"{program} -m http.server {port}" + (f" --bind {bind}" if bind else "")
        sh = parent.spawn("sh", "-c", (text or "{} >{fifo} 2>&1 & echo pid $! >{fifo}").replace("{}", command).replace("{fifo}", fifo.path))
        server = self.serving(fifo, port)
        sh.wait_end()
        return server

    def serving(self, fifo, port):
        """The http.server whose pid a shell has said on the FIFO (`echo pid $!`), once it has said itself that it serves."""
        text = fifo.read_until(lambda text: "Serving HTTP" in text and re.search(r"pid \d+\n", text), "http.server")
        server = Process(re.search(r"pid (\d+)", text)[1])
        server.port = port
        return self.find(server)

    def find(self, server):
        """Its only listening socket, from the kernel."""
        (server.inode,) = listening_inodes(server.port)
        return server

    def terminal(self, env=()):
        """A terminal emulator (nobody special, alive) with an interactive shell in it. Returns (emulator, shell)."""
        emulator = self.actor("lr-terminal")
        return emulator, emulator.pty("bash", "--norc", "--noprofile", "-i", env=env)

    def typed_actor(self, shell, name, text):
        """A stand-in started from an interactive shell by the line TEXT, where {} is its command line."""
        identity = self.play.name()
        shell.type(text.replace("{}", f"env LR_ID={identity} {self.play.stand_in(name)}") + "\n")
        return self.play.enter(identity)

    # listenreap

    def run(self, *words, pin_dir=None, config=None, preexec=None, limit=LIMIT, env=None):
        """As it is: no options of ours but where pins and config are."""
        options = [] if pin_dir is False else ["--pin-dir", pin_dir or self.pin_dir]
        options += [] if config is False else ["--config", config or self.config_path]
        return self.run_bare(*words, *options, preexec=preexec, limit=limit, env=env)

    def run_bare(self, *words, preexec=None, binary=None, limit=LIMIT, env=None):
        command = [binary or LISTENREAP, *map(str, words)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit, preexec_fn=preexec,
                              env=dict(self.environment, **(env or {})))
        return Output(["listenreap", *command[1:]], done.returncode, done.stdout.decode("utf-8", "surrogateescape"),
                      done.stderr.decode("utf-8", "surrogateescape"))

    def status(self, port=None, **options):
        words = ["status", "--json"] + (["--port", port] if port is not None else [])
        return self.run(*words, **options).done().json["listeners"]

    def sweep(self, *words, codes=(0,), **options):
        return self.run("sweep", "--json", *words, **options).exits(*codes)

    # What must be true

    def listener(self, server, **options):
        """The row of this server's socket; there must be exactly one."""
        rows = [row for row in self.status(server.port, **options) if row["inode"] == server.inode]
        assert len(rows) == 1, f"{len(rows)} rows for socket {server.inode} of {server!r}, port {server.port}: {self.status(server.port)}"
        return rows[0]

    def judged(self, server, verdict, *reasons, **facts):
        """status says this verdict and one of these reasons, and these facts (dots are written __)."""
        row = self.listener(server)
        said = f"{row['verdict']} {row['reason']}: {row['detail']}\nrow {json.dumps(row)}"
        assert row["verdict"] == verdict, f"{server!r} should be {verdict} {reasons}, is {said}"
        assert not reasons or row["reason"] in reasons, f"{server!r} should be {verdict} {reasons}, is {said}"
        for name, value in facts.items():
            found = row
            for part in name.split("__"):
                assert found is not None and part in found, f"{name} is not there in {said}"
                found = found[part]
            assert found == value, f"{name} is {found!r}, not {value!r}: {said}"
        return row

    def reaped(self, server, *others, alive=(), signals=None, **facts):
        """Due, and one sweep ends it and these others, and none of those that must stay alive."""
        self.judged(server, "reap", "due", **facts)
        output = self.sweep()
        self.was_reaped(output, server, signals=signals)
        for process in (server, *others):
            assert process.has_ended(), f"{process!r} lives on after {output!r}"
        self.are_alive(alive, output)
        return output

    def was_reaped(self, output, server, outcome="reaped", signals=None):
        acts = [act for act in output.json["actions"] if act["port"] == server.port]
        assert any(act["outcome"] == outcome for act in acts), f"no {outcome} for port {server.port}: {acts} in {output!r}"
        if outcome == "reaped":
            assert server.inode not in listening_inodes(server.port), f"socket {server.inode} still listens after {output!r}"
        if signals is not None:
            sent = [act["signals"] for act in acts if act["pid"] == server.pid]
            assert sent == [list(signals)], f"signals {sent}, not {[list(signals)]}: {output!r}"

    def spared(self, server, reason, *others, verdict="spare", **facts):
        """Judged so, and a sweep touches neither it nor these others."""
        row = self.judged(server, verdict, *((reason,) if isinstance(reason, str) else reason), **facts)
        output = self.sweep()
        acts = [act for act in output.json["actions"] if act["port"] == server.port]
        assert not acts, f"something was done: {output!r}"
        self.are_alive((server, *others), output)
        assert server.inode in listening_inodes(server.port) or "mptcp" in row["protocol"] or row["reason"] == "namespace", \
            f"socket {server.inode} of {server!r} listens no more after {output!r}"
        return row

    def waits(self, server, reason, *others, **facts):
        row = self.spared(server, reason, *others, verdict="wait", **facts)
        assert isinstance(row["due_s"], (int, float)) and row["due_s"] > 0, row
        return row

    def are_alive(self, processes, context=""):
        for process in processes:
            assert not process.has_ended(), f"{process!r} has ended: {context!r}"

    # What this machine has

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program, path=ENVIRONMENT["PATH"]):
                raise Skip(f"no {program} here")


def can_bind(port):
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        try:
            with socket.socket(family) as probe:
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind((address, port))
        except OSError:
            return False
    return True


def need_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError as error:
        raise Skip(f"no IPv6 loopback here: {error}") from None


def need_mptcp():
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).close()
    except OSError as error:
        raise Skip(f"no MPTCP in this kernel: {error}") from None
