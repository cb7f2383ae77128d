# SPDX-License-Identifier: GPL-2.0-only
"""Bad input and bad places: one line, the contract's exit code, nothing changed."""
import os

from lib import kernel
from lib.case import LISTENREAP, NOBODY, Skip, case
from lib.play import listening_inodes


def due(t):
    """A server that any successful sweep would reap: it proves that nothing was done."""
    agent = t.agent()
    server = t.server(agent)
    agent.end()
    return server


def tree_of(folder):
    found = []
    for here, folders, files in os.walk(folder):
        for name in sorted(folders + files):
            status = os.lstat(os.path.join(here, name))
            found.append((os.path.relpath(os.path.join(here, name), folder), status.st_ino, status.st_mode, status.st_uid, status.st_size))
    return sorted(found)


def refused(t, server, config, code, *words, line=None, commands=("status", "sweep", "explain", "check")):
    """Each command says one line that has these words, exits so, and leaves all as it was."""
    before = tree_of(t.pin_dir)
    for command in commands:
        operand = [f":{server.port}"] if command == "explain" else []
        output = t.run(command, *operand, config=config).exits(code).says_one_line(*words)
        if line is not None:
            assert f"{config}:{line}: " in output.err, f"no {config}:{line}: in {output!r}"
    assert tree_of(t.pin_dir) == before
    t.are_alive([server])
    assert server.inode in listening_inodes(server.port)


# Config


@case
def config_that_is_not_there(t):
    refused(t, due(t), t.folder + "/none.conf", 2, "none.conf")


@case
def config_that_is_a_folder(t):
    os.mkdir(t.folder + "/folder.conf")
    refused(t, due(t), t.folder + "/folder.conf", 2, "folder.conf")


@case
def config_that_is_unreadable(t):
    """To root nothing is, so: for another user."""
    path = t.config_text("", "secret.conf")
    os.chmod(path, 0)
    output = t.run("check", config=path, preexec=kernel.become_nobody).exits(2).says_one_line("secret.conf")
    assert "ermission" in output.err, output


@case
def config_that_others_may_write_to(t):
    server = due(t)
    os.chmod(t.config_path, 0o666)
    refused(t, server, t.config_path, 2, "writ")
    os.chmod(t.config_path, 0o664)
    os.chown(t.config_path, 0, NOBODY)
    refused(t, server, t.config_path, 2, "writ")
    os.chmod(t.config_path, 0o644)
    os.chown(t.config_path, NOBODY, NOBODY)
    refused(t, server, t.config_path, 2)
    os.chown(t.config_path, 0, 0)
    t.reaped(server)


@case
def config_that_is_not_text(t):
    path = t.folder + "/noise.conf"
    with open(path, "wb") as file:
        file.write(bytes(range(256)) * 64)
    server = due(t)
    for command in ("status", "sweep", "check"):
        output = t.run(command, config=path).exits(2)
        assert len(output.err.splitlines()) == 1 and "\0" not in output.err, output
    t.are_alive([server])


@case
def config_errors_have_their_line(t):
    server = due(t)
    for text, line in (
            ("[listenreap]\nmode = enforce\nmodus = observe\n", 3),
            ("[listenreap]\nmode = sometimes\n", 2),
            ("[nonsense]\nkey = 1\n", 1),
            ("[defaults]\n\n# a comment\nstale-after = 5 parsecs\n", 4),
            ("[defaults]\nstale-after = -5m\n", 2),
            ("[defaults]\nstale-after = 99999999999999999999d\n", 2),
            ("[defaults]\ngrace =\n", 2),
            ("[defaults]\norphan = maybe\n", 2),
            ("[defaults]\nsignal = SIGNOTHING\n", 2),
            ("[defaults]\nuser = no-such-user-here\n", 2),
            ("[rule empty]\nport = 80\n", 1),
            ("[rule one]\nprogram = a\nport = 99999\n", 3),
            ("[rule one]\nprogram = a\nport = 9000-8000\n", 3),
            ("[rule one]\nprogram = a\nscope = moon\n", 3),
            ("[rule one]\nprogram = a\nstale-after = 1y\n", 3),
            ("program = a\n", 1),
            ("[rule one\nprogram = a\n", 1),
            ("[rule one]\nprogram\n", 2),
            ("[managers]\nboot = soon\n", 2),
            ("[listenreap]\nmax-reaps = many\n", 2),
            ("[agents]\nshipped = perhaps\n", 2)):
        path = t.config_text(text, "wrong.conf")
        output = t.run("check", config=path).exits(2)
        assert len(output.err.splitlines()) == 1 and f"{path}:" in output.err, f"for {text!r}: {output!r}"
        said = output.err.split(f"{path}:", 1)[1].split(":")[0]
        assert said == str(line) or (text.startswith("[rule empty]") and said in "12"), f"line {said}, not {line}, for {text!r}: {output!r}"
        t.run("sweep", config=path).exits(2)
    t.are_alive([server])


@case
def config_with_a_bad_line_among_good_ones_does_nothing(t):
    server = due(t)
    text = open(t.config_path).read() + "\n[rule wrong]\nprogram = x\nstale = 1\n"
    path = t.config_text(text, "half.conf")
    refused(t, server, path, 2, "stale", line=text.splitlines().index("stale = 1") + 1)
    t.reaped(server)


# Command line


@case(tracking=False)
def command_line_that_is_wrong(t):
    for words in ([], ["frobnicate"], ["statsu"], ["status", "--frobnicate"], ["status", "--port"], ["status", "--port", "http"],
                  ["status", "--port", "65536"], ["status", "--port", "-1"], ["status", "--pid", "x"], ["status", "--scope", "moon"],
                  ["status", "--verdict", "maybe"], ["status", "--user", "no-such-user-here"], ["status", "surplus"], ["explain"],
                  ["explain", "x"], ["explain", ":x"], ["explain", ":0"], ["explain", ":65536"], ["explain", "-5"], ["explain", "1", "2"],
                  ["load", "--json"], ["sweep", "--port", "1"], ["sweep", "now"], ["-x"], ["--"], ["status", "--pin-dir"],
                  ["status", "--pin-dir", "relative"], ["check", "a", "b"], ["unload", "x"]):
        output = t.run_bare(*words)
        assert output.code == 2 and output.out == "" and len(output.err.splitlines()) == 1, output


@case
def command_line_that_is_wrong_changes_nothing(t):
    server, before = due(t), tree_of(t.pin_dir)
    for words in (["sweep", "--dry"], ["sweep", "--frobnicate"], ["sweeep"], ["sweep", "extra"], ["unload", "extra"]):
        output = t.run(*words)
        if words != ["sweep", "--dry"]:  # getopt_long(3) takes an abbreviation, which then is a dry run
            assert output.code == 2, output
    assert tree_of(t.pin_dir) == before
    t.are_alive([server])


# Privilege


@case
def not_root(t):
    server, before = due(t), tree_of(t.pin_dir)
    os.chmod(t.config_path, 0o644)
    for words in (["load"], ["unload"], ["status"], ["status", "--json"], ["sweep"], ["explain", f":{server.port}"]):
        t.run(*words, config=False if words[0] in ("load", "unload") else None, preexec=kernel.become_nobody).exits(3).says_one_line()
    assert tree_of(t.pin_dir) == before
    t.are_alive([server])
    t.run("check", preexec=kernel.become_nobody).done()


@case
def not_root_and_nothing_is_loaded(t):
    t.own_tracker(loaded=False)
    os.chmod(os.path.dirname(t.pin_dir), 0o777)
    for words in (["load"], ["sweep"]):
        t.run(*words, config=False if words == ["load"] else None, preexec=kernel.become_nobody).exits(3).says_one_line("root")
    assert not os.path.exists(t.pin_dir)


@case
def root_without_the_capabilities(t):
    t.own_tracker(loaded=False)
    everything = [number for number in range(41) if number not in (0, 1, 5, 6, 7)]  # CHOWN DAC KILL SETGID SETUID stay
    t.run("load", config=False, preexec=lambda: kernel.drop_capabilities(*everything)).exits(3).says_one_line("CAP_BPF")
    assert not os.path.exists(t.pin_dir)


# The bpf filesystem


@case
def pin_dir_on_another_file_system(t):
    pin_dir = t.folder + "/plain"
    for words in (["load"], ["status"], ["sweep"]):
        t.run(*words, config=False if words == ["load"] else None, pin_dir=pin_dir).exits(1, 2, 3).says_one_line()
        assert not os.path.exists(pin_dir)
    os.mkdir(pin_dir)
    keep = t.play.file("plain/v1", "mine\n")
    for words in (["load"], ["status"], ["sweep"], ["unload"]):
        t.run(*words, config=False if words[0] in ("load", "unload") else None, pin_dir=pin_dir).exits(1, 2, 3).says_one_line()
    assert os.listdir(pin_dir) == ["v1"] and open(keep).read() == "mine\n"


def without_bpffs():
    """In a mount namespace of our own no bpf filesystem is at /sys/fs/bpf. For preexec."""
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    while True:
        try:
            kernel.umount("/sys/fs/bpf", kernel.MNT_DETACH)
        except OSError:
            return


@case
def bpf_filesystem_that_is_not_mounted_is_mounted_by_load(t):
    if not os.path.isdir("/sys/fs/bpf"):
        raise Skip("no /sys/fs/bpf here")
    status = f"{LISTENREAP} status --config {t.config_path} >/dev/null"
    script = f"""{status} 2>&1; echo status $?
{LISTENREAP} load || echo load $?
grep -c ' /sys/fs/bpf bpf ' /proc/self/mounts
{status}; echo status $?
ls -I '*.debug' /sys/fs/bpf
{LISTENREAP} unload
ls -I '*.debug' /sys/fs/bpf"""
    output = t.run_bare("-c", script, binary="/bin/sh", preexec=without_bpffs).done()
    words = output.out.split()
    assert words[0:2] in (["status", "1"], ["status", "3"]) and words[2:] == ["1", "status", "0", "listenreap"], output
    assert output.err == "", output


@case
def bpf_filesystem_that_cannot_be_mounted(t):
    if not os.path.isdir("/sys/fs/bpf"):
        raise Skip("no /sys/fs/bpf here")

    def no_mounting():
        without_bpffs()
        kernel.drop_capabilities(21)  # CAP_SYS_ADMIN
    output = t.run("load", config=False, pin_dir="/sys/fs/bpf/listenreap-test", preexec=no_mounting)
    output.exits(3).says_one_line("bpf")


@case
def bpf_filesystem_that_is_read_only(t):
    t.own_tracker(loaded=False)
    top = os.path.dirname(t.pin_dir)
    kernel.mount("bpf", top, "bpf", kernel.MS_REMOUNT | kernel.MS_RDONLY)
    t.run("load", config=False).exits(3).says_one_line("read-only", top)
    assert not os.path.exists(t.pin_dir)


# Broken pins


def pin_files(t):
    found = []
    for folder, _, files in os.walk(t.pin_dir):
        found += [os.path.join(folder, name) for name in files]
    return sorted(found)


def is_broken_and_repaired(t, server, breakage):
    before = tree_of(t.pin_dir)
    for words in (["status"], ["status", "--json"], ["explain", f":{server.port}"]):
        t.run(*words).exits(1, 3).says_one_line("load")
    assert tree_of(t.pin_dir) == before, breakage
    output = t.load()
    assert len(output.err.splitlines()) <= 1, output
    row = t.judged(server, "spare", "anchor-alive")
    assert row["age_exact"] is False, row
    assert t.load().err == ""


@case
def half_a_pin_directory(t):
    t.own_tracker()
    server = t.server(t.agent())
    count = len(pin_files(t))
    for i in range(count):
        os.unlink(pin_files(t)[i])
        is_broken_and_repaired(t, server, i)
    for path in pin_files(t)[1:]:
        os.unlink(path)
    is_broken_and_repaired(t, server, "all but one")


@case
def half_a_pin_directory_and_a_sweep(t):
    t.own_tracker()
    agent = t.agent()
    server = t.server(agent)
    os.unlink(pin_files(t)[0])
    agent.end()
    output = t.sweep(codes=(0, 1, 3))
    t.are_alive([server]) if output.code else None
    again = t.agent()
    due_server = t.server(again)
    again.end()
    t.load()
    t.reaped(due_server)


def swapped(t, first, second):
    """The pins called first and second are each other's: all names are there, and two are not what they should be."""
    t.own_tracker()
    server = t.server(t.agent())
    paths = {os.path.basename(path): path for path in pin_files(t)}
    if first not in paths or second not in paths:
        raise Skip(f"this version pins no {first} and {second}")
    try:
        kernel.swap_pins(paths[first], paths[second])
    except OSError as error:
        raise Skip(f"pins cannot be swapped here: {error}") from None
    is_broken_and_repaired(t, server, (first, second))


def swap_case(first, second):
    def body(t):
        swapped(t, first, second)
    body.__name__ = f"a_corrupt_pin_{first}_is_{second}"
    body.__module__ = __name__
    case(body)


for pair in (("births", "meta"), ("births", "listeners"), ("counters", "switches"), ("stops", "keeps"), ("iter_holders", "iter_processes"),
             ("iter_connections", "iter_holders"), ("counters", "iter_holders")):
    swap_case(*pair)


@case
def a_link_where_a_pin_should_be(t):
    t.own_tracker()
    server = t.server(t.agent())
    path = pin_files(t)[0]
    os.unlink(path)
    try:
        os.symlink("/etc/passwd", path)
    except OSError as error:
        raise Skip(f"the bpf filesystem refuses it: {error}") from None
    is_broken_and_repaired(t, server, path)
    assert os.path.exists("/etc/passwd")


@case
def a_folder_where_a_pin_should_be(t):
    t.own_tracker()
    server = t.server(t.agent())
    path = pin_files(t)[0]
    os.unlink(path)
    os.mkdir(path)
    is_broken_and_repaired(t, server, path)


@case
def a_pin_dir_that_is_a_link(t):
    t.own_tracker()
    before = tree_of(t.pin_dir)
    link = t.folder + "/link"
    os.symlink(t.pin_dir, link)
    output = t.run("unload", config=False, pin_dir=link)
    if output.code != 0:
        output.exits(1, 2, 3).says_one_line()
        assert tree_of(t.pin_dir) == before
    assert os.path.islink(link)


@case
def another_layouts_pins_are_named(t):
    t.own_tracker()
    (layout,) = os.listdir(t.pin_dir)
    os.rename(f"{t.pin_dir}/{layout}", f"{t.pin_dir}/v999")
    for words in (["status"], ["explain", ":1"]):
        t.run(*words).exits(1, 3).says_one_line("load")
    assert os.listdir(t.pin_dir) == ["v999"]


@case
def a_proc_that_hides_others_spares(t):
    """hidepid: what cannot be read is spared, or nothing is observed at all; nothing is guessed."""
    server = due(t)

    def hide():
        kernel.unshare(kernel.CLONE_NEWNS)
        kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        kernel.mount("tmpfs", "/proc", "tmpfs")
    output = t.run("sweep", preexec=hide)
    assert output.code in (1, 3) or not server.has_ended(), output
    t.are_alive([server], output)
