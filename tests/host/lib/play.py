# SPDX-License-Identifier: GPL-2.0-only
"""The play: processes that do what a test says, one step at a time, and what the kernel itself says about them.

Nothing here sleeps or retries: it waits on sockets, FIFOs and pidfds, each with a limit after which the test has failed.
"""
import array
import os
import select
import signal
import socket
import struct
import time

LIMIT = float(os.environ.get("LR_LIMIT", "60"))  # seconds that one step may take; a VM without KVM is slow


class Late(AssertionError):
    """A step took longer than LIMIT."""


def wait_readable(fd, what, limit=None):
    poller = select.poll()
    poller.register(fd, select.POLLIN)
    if not poller.poll((LIMIT if limit is None else limit) * 1000):
        raise Late(f"{what}: nothing came in {LIMIT if limit is None else limit:.0f} s")


def boot_time():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def pass_time_until(boot_s):
    """For clocks that a test wants to run out: time is what it waits for."""
    left = boot_s - boot_time()
    while left > 0:
        select.poll().poll(left * 1000 + 1)
        left = boot_s - boot_time()


class Process:
    """A process held by pidfd: never mistaken for another."""

    def __init__(self, pid):
        self.pid = int(pid)
        self.pidfd = os.pidfd_open(self.pid)
        self.comm = read_text(f"/proc/{self.pid}/comm").rstrip("\n")

    def __repr__(self):
        return f"{self.comm}({self.pid})"

    def has_ended(self):
        poller = select.poll()
        poller.register(self.pidfd, select.POLLIN)
        return bool(poller.poll(0))

    def wait_end(self, limit=None):
        wait_readable(self.pidfd, f"the end of {self!r}", limit)

    def signal(self, number):
        signal.pidfd_send_signal(self.pidfd, number)

    def kill(self):
        if not self.has_ended():
            self.signal(signal.SIGKILL)
        self.wait_end()

    def state(self):
        """R, S, T, Z, ... of its leader."""
        return read_text(f"/proc/{self.pid}/stat").rpartition(")")[2].split()[0]

    def parent(self):
        return int(read_text(f"/proc/{self.pid}/stat").rpartition(")")[2].split()[1])


class Refused(Exception):
    """An actor could not do it: .errno."""

    def __init__(self, number, text):
        super().__init__(text)
        self.errno = number


class Actor(Process):
    """A stand-in (stand-in/actor.c) at the other end of a connection."""

    def __init__(self, play, identity, connection):
        pid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        super().__init__(pid)
        self.play, self.identity, self.connection = play, identity, connection
        self.port = self.inode = self.fd = None
        self.popen = None

    def tell(self, *words, fd=None):
        data = b"".join(os.fsencode(str(word)) + b"\0" for word in words)
        extra = [] if fd is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]
        self.connection.sendmsg([data], extra)

    def hear(self, what):
        wait_readable(self.connection, f"{self!r}: {what}")
        data, extra, _, _ = self.connection.recvmsg(8192, socket.CMSG_SPACE(4))
        self.came_along = struct.unpack("i", extra[0][2][:4])[0] if extra else None
        if not data:
            return None
        words = data.decode("utf-8", "replace").split(" ")
        if words[0] == "error":
            raise Refused(int(words[1]), f"{self!r}: {what}: {' '.join(words[2:])}")
        return words[1:]

    def do(self, *words, fd=None):
        self.tell(*words, fd=fd)
        answer = self.hear(" ".join(str(word) for word in words)[:200])
        if answer is None:
            raise AssertionError(f"{self!r} ended at: {words}")
        return answer

    # Moves that give another actor

    def fork(self, how="fork"):
        identity = self.play.name()
        self.do(how, identity)
        return self.play.enter(identity)

    def double_fork(self):
        return self.fork("double-fork")

    def spawn(self, *argv, program=None, out="", env=()):
        """A program as a child; its pid may be over already."""
        return Process(self.do("spawn", out, *env, program or argv[0], *argv)[0])

    def spawn_actor(self, name, *arguments, argv0=None, env=(), owner=None):
        """A child that runs a stand-in called `name`."""
        identity = self.play.name()
        program = self.play.stand_in(name, owner)
        self.do("spawn", "-", f"LR_ID={identity}", *env, program, argv0 or program, *arguments)
        return self.play.enter(identity)

    def shell_actor(self, name, text, shell="sh", arguments=()):
        """A stand-in started by `sh -c TEXT`, where {} is its command line. Returns (the shell, the stand-in)."""
        identity = self.play.name()
        command = f"env LR_ID={identity} {self.play.stand_in(name)} {' '.join(arguments)}"
        sh = self.spawn(shell, "-c", text.replace("{}", command))
        return sh, self.play.enter(identity)

    def script_actor(self, name, text, arguments=()):
        """The same from a script file run by sh."""
        identity = self.play.name()
        command = f"env LR_ID={identity} {self.play.stand_in(name)} {' '.join(arguments)}"
        sh = self.spawn("sh", self.play.file(f"script-{identity}.sh", text.replace("{}", command) + "\n"))
        return sh, self.play.enter(identity)

    def exec_actor(self, name, *arguments, how="exec", env=()):
        """Becomes another stand-in; this object is over."""
        identity = self.play.name()
        program = self.play.stand_in(name)
        self.tell(how, "-", f"LR_ID={identity}", *env, program, program, *arguments)
        answer = self.hear("exec")
        assert answer is None, answer
        return self.play.enter(identity)

    def pty(self, *argv, env=()):
        """A program on a terminal of its own. Returns (process, master)."""
        pid = self.do("pty", "-", *env, argv[0], *argv)[0]
        return Terminal(pid, self.came_along)

    # Sockets

    def socket(self, address, *options):
        return int(self.do("socket", "6" if ":" in address else "4", *options)[0])

    def listen_on(self, fd, backlog=16):
        port, inode = self.do("listen", fd, backlog)
        self.fd, self.port, self.inode = fd, int(port), int(inode)
        self.opened = boot_time()
        return self

    def listen(self, port, address="127.0.0.1", *options, device=None, backlog=16):
        fd = self.socket(address, *options)
        self.do("bind", fd, address, port, *([device] if device else []))
        return self.listen_on(fd, backlog)

    def connect(self, server, address="127.0.0.1"):
        """Connects to where server listens; returns our descriptor."""
        return int(self.do("connect", address, server.port)[0])

    def accept(self, fd=None):
        return int(self.do("accept", self.fd if fd is None else fd)[0])

    def end(self, code=0):
        """Exits by itself."""
        self.tell("exit", code)
        self.wait_end()
        if self.popen:
            self.popen.wait()
        return self


class Terminal(Process):
    """A process on a pty whose master we hold."""

    def __init__(self, pid, master):
        super().__init__(pid)
        self.master = master

    def type(self, text):
        os.write(self.master, text.encode())

    def leave(self):
        """Log out as people do."""
        self.type("exit\n")
        self.wait_end()
        self.hang_up()

    def hang_up(self):
        os.close(self.master)
        self.master = None


class Fifo:
    """Where a program says that it is ready."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path, 0o666)
        os.chmod(path, 0o666)
        self.fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)  # ours is a writer too: never an end of file
        self.text = ""

    def read_until(self, test, what):
        while not test(self.text):
            wait_readable(self.fd, f"{what} (so far {self.text!r})")
            self.text += os.read(self.fd, 65536).decode("utf-8", "replace")
        return self.text


class Play:
    """The stage: a folder, the driver's socket, and everybody who said hello."""

    def __init__(self, folder, actor_binary):
        self.folder, self.actor_binary = folder, actor_binary
        self.waiting, self.count = {}, 0
        self.cast = []  # an actor whose connection is closed ends
        os.makedirs(folder + "/bin")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.bind(folder + "/control")
        os.chmod(folder + "/control", 0o777)
        self.socket.listen(64)

    def name(self):
        self.count += 1
        return f"{self.count}"

    def file(self, name, text, mode=0o644):
        path = f"{self.folder}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def fifo(self):
        return Fifo(f"{self.folder}/fifo-{self.name()}")

    def stand_in(self, name, owner=None):
        """The actor's binary under another name."""
        path = f"{self.folder}/bin/{name}"
        if not os.path.exists(path):
            with open(self.actor_binary, "rb") as source, open(path + ".new", "wb") as target:
                target.write(source.read())
            os.chmod(path + ".new", 0o755)
            if owner is not None:
                os.chown(path + ".new", owner, owner)
            os.rename(path + ".new", path)
        return path

    def enter(self, identity):
        """Waits for that one to say hello."""
        while identity not in self.waiting:
            wait_readable(self.socket, f"hello of actor {identity}")
            connection, _ = self.socket.accept()
            wait_readable(connection, "a name")
            hello = connection.recv(256).decode()
            self.waiting[hello] = Actor(self, hello, connection)
        self.cast.append(self.waiting.pop(identity))
        return self.cast[-1]

    def has_come(self, identity):
        """Without waiting: did somebody of that name say hello?"""
        while select.select([self.socket], [], [], 0)[0]:
            connection, _ = self.socket.accept()
            hello = connection.recv(256).decode()
            self.waiting[hello] = Actor(self, hello, connection)
        return identity in self.waiting


# What the kernel says, read without listenreap


def read_text(path):
    with open(path, errors="surrogateescape") as file:
        return file.read()


def listening_inodes(port):
    """Inodes of the sockets that listen on this port here."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            rows = read_text(table).splitlines()[1:]
        except FileNotFoundError:
            continue
        for row in rows:
            fields = row.split()
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(int(fields[9]))
    return found


def descendants_of(pid):
    """Present children and theirs, by /proc."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                stat = read_text(f"/proc/{name}/stat")
            except (FileNotFoundError, ProcessLookupError):
                continue
            children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(name))
    found, fresh = [], [pid]
    while fresh:
        fresh = [child for parent in fresh for child in children.get(parent, ())]
        found += fresh
    return found
