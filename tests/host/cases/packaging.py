# SPDX-License-Identifier: GPL-2.0-only
"""What is installed: complete, removable, and accepted by the programs that read it."""
import os
import shutil
import subprocess

from lib.case import LISTENREAP, TOP, Skip, case

COMMANDS = "status explain sweep run watch keep load unload check doctor metrics".split()


def installed(t):
    """A copy of what `make install` puts in place; the built binary is there already."""
    if not shutil.which("make") or not shutil.which("install"):
        raise Skip("no make here")
    top = t.folder + "/root"
    done = subprocess.run(["make", "-s", "-C", TOP, "install", f"DESTDIR={top}", "PREFIX=/usr"], capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"make install does not run here: {done.stderr.splitlines()[-1:]}")
    return top


def files(top):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names)


@case(tracking=False)
def install_and_uninstall_leave_nothing(t):
    top = installed(t)
    assert os.access(top + "/usr/sbin/listenreap", os.X_OK)
    assert open(top + "/etc/listenreap.conf").read() == open(TOP + "/user/etc/listenreap.conf").read()
    subprocess.run(["make", "-s", "-C", TOP, "uninstall", f"DESTDIR={top}", "PREFIX=/usr"], check=True)
    assert not files(top), files(top)


@case(tracking=False)
def uninstall_keeps_a_config_that_was_changed(t):
    top = installed(t)
    with open(top + "/etc/listenreap.conf", "a") as config:
        config.write("# ours\n")
    subprocess.run(["make", "-s", "-C", TOP, "uninstall", f"DESTDIR={top}", "PREFIX=/usr"], check=True)
    assert files(top) == [top + "/etc/listenreap.conf"], files(top)


@case(tracking=False)
def manual_pages_are_clean(t):
    t.need("mandoc")
    for page in ("listenreap.8", "listenreap.conf.5"):
        done = subprocess.run(["mandoc", "-Tlint", "-W", "warning", f"{TOP}/user/etc/{page}"], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr


@case(tracking=False)
def manual_pages_name_every_command_and_option(t):
    page = open(TOP + "/user/etc/listenreap.8").read()
    for command in COMMANDS:
        assert command in page, f"listenreap(8) does not speak of {command}"
        usage = t.run_bare(command, "--help").done().out
        for word in usage.split():
            if word.startswith("--"):
                assert word.strip(",.")[2:] in page, f"listenreap(8) does not speak of {word} of {command}"


@case(tracking=False)
def units_are_accepted_by_systemd(t):
    t.need("systemd-analyze")
    top = installed(t)
    units = [f"{top}/usr/lib/systemd/system/{name}" for name in ("listenreap.service", "listenreap-sweep.service", "listenreap-sweep.timer")]
    for unit in units:
        text = open(unit).read()
        assert "@SBINDIR@" not in text, f"a placeholder is left in {unit}"
        with open(unit, "w") as out:
            out.write(text.replace("/usr/sbin/listenreap", LISTENREAP))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True,
                          env=dict(t.environment, SYSTEMD_UNIT_PATH=f"{top}/usr/lib/systemd/system:"))
    said = [line for line in done.stderr.splitlines() if "listenreap" in line]
    assert not said, "\n".join(said)


@case(tracking=False)
def bash_completes_commands_options_and_values(t):
    script = """
source %s/user/etc/completions/listenreap.bash
complete_it() { COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _listenreap; echo "${COMPREPLY[*]}"; }
complete_it listenreap s
complete_it listenreap status --sc
complete_it listenreap status --scope ""
complete_it listenreap --pin-dir /x ke
""" % TOP
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["status sweep", "--scope", "loopback exposed", "keep"], done.stdout + done.stderr


@case(tracking=False)
def zsh_and_fish_load_their_completions(t):
    missing = [shell for shell in ("zsh", "fish") if not shutil.which(shell)]
    if "zsh" not in missing:
        subprocess.run(["zsh", "-fc", f"autoload -Uz compinit; compinit -D; source {TOP}/user/etc/completions/_listenreap 2>/dev/null; "
                        "whence _listenreap >/dev/null"], check=True)
    if "fish" not in missing:
        done = subprocess.run(["fish", "-c", f"source {TOP}/user/etc/completions/listenreap.fish; complete -C 'listenreap sw'"],
                              capture_output=True, text=True, check=True)
        assert "sweep" in done.stdout, done.stdout
    if missing:
        raise Skip("no " + " and no ".join(missing) + " here")


@case(tracking=False)
def completions_know_every_command(t):
    helped = t.run_bare("--help").done().out
    for command in COMMANDS:
        assert f"\n  {command} " in helped, command
        for name in ("listenreap.bash", "_listenreap", "listenreap.fish"):
            assert command in open(f"{TOP}/user/etc/completions/{name}").read(), f"{name} does not know {command}"
