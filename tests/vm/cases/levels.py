# SPDX-License-Identifier: GPL-2.0-only
"""What a kernel allows and what it refuses, one level after the other, on kernels that have all of it."""
import os

from lib import kernel
from lib.case import LISTENREAP, Skip, case, need_mptcp
from lib.play import read_text
from vm.refusal import KERNEL

CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF = 21, 38, 39
BTF = "/sys/kernel/btf/vmlinux"
NO_TRAMPOLINES = os.environ.get("LISTENREAP_NO_TRAMPOLINES", os.path.dirname(LISTENREAP) + "/no-trampolines.so")


def is_locked():
    try:
        return "[confidentiality]" in read_text("/sys/kernel/security/lockdown")
    except FileNotFoundError:
        return False


def refuses_trampolines(t):
    """Runs of listenreap from here on are refused what needs a trampoline, as some kernels do: EPERM and an empty log."""
    if not os.path.exists(NO_TRAMPOLINES):
        raise Skip(f"no {NO_TRAMPOLINES}: there was no compiler")
    wrapper = t.play.file("listenreap", f'#!/bin/sh\nLD_PRELOAD={NO_TRAMPOLINES} exec {LISTENREAP} "$@"\n', mode=0o755)
    runs_instead(t, wrapper)


def runs_instead(t, program):
    bare = t.run_bare
    t.run_bare = lambda *words, **options: bare(*words, **{**options, "binary": program})


def has_right_results(t, hook):
    """A little of everything that a hook has a part in."""
    assert t.run("status", "--json").done().json["hook"] == hook
    agent = t.agent()
    first, second = t.server(agent), t.server(agent, address="::1")
    for server in (first, second):
        t.judged(server, "spare", "anchor-alive", age_exact=True, opener__pid=server.pid)
    again = agent.spawn_actor("lr-server")
    again.listen(t.port())
    again.do("shutdown", again.fd)
    again.listen_on(again.fd)
    assert t.listener(again)["age_exact"]
    agent.end()
    t.reaped(first, second, again)


def mptcp_has_right_results(t):
    need_mptcp()
    agent = t.agent()
    server = t.server(agent, options=("mptcp",))
    t.judged(server, "spare", "anchor-alive", protocol="mptcp", age_exact=True, opener__pid=server.pid)
    agent.end()
    t.reaped(server)


def refuses(t, preexec, *words):
    """load refuses with one line that has these words, doctor says the same, and nothing was changed."""
    output = t.run("load", config=False, preexec=preexec).exits(3).says_one_line(*words)
    assert not os.path.exists(t.pin_dir), output
    t.run("sweep", preexec=preexec).exits(3)
    output = t.run("doctor", config=False, preexec=preexec).exits(3)
    missing = [line for line in output.out.splitlines() if line.startswith("MISSING")]
    for word in words:
        assert any(word.lower() in line.lower() for line in missing), f"no {word} among what is missing: {output!r}"


if KERNEL >= (5, 12):
    @case
    def trampolines_allowed_hook_is_fexit(t):
        t.own_tracker()
        has_right_results(t, "fexit")
        mptcp_has_right_results(t)

    @case
    def trampolines_refused_hook_is_tracepoint(t):
        t.own_tracker(loaded=False)
        refuses_trampolines(t)
        t.load()
        has_right_results(t, "tracepoint")
        mptcp_has_right_results(t)
        doctor = t.run("doctor", config=False).done()
        assert any(line.startswith("without") and "fexit" in line for line in doctor.out.splitlines()), doctor

    @case
    def locked_down_for_confidentiality(t):
        if not is_locked():
            raise Skip("this guest was booted without lockdown=confidentiality; the -locked one is with it")
        t.own_tracker()
        has_right_results(t, "fexit")
        mptcp_has_right_results(t)
        # argv comes from user memory: it must be whole here too.
        agent = t.agent()
        server = agent.spawn_actor("lr-server", "--one", "two words", "x" * 100).listen(t.port())
        argv = t.listener(server)["opener"]["argv"]
        assert argv[1:] == ["--one", "two words", "x" * 100], argv
        t.run("doctor", config=False).done()
        t.run("unload", config=False).done()

    @case
    def without_cap_bpf(t):
        t.own_tracker(loaded=False)
        refuses(t, lambda: kernel.drop_capabilities(CAP_BPF, CAP_SYS_ADMIN), "CAP_BPF")

    @case
    def without_cap_perfmon(t):
        t.own_tracker(loaded=False)
        refuses(t, lambda: kernel.drop_capabilities(CAP_PERFMON, CAP_SYS_ADMIN), "CAP_PERFMON")

    @case
    def without_type_information(t):
        t.own_tracker(loaded=False)
        empty = t.play.file("empty", "")

        def mask():
            kernel.unshare(kernel.CLONE_NEWNS)
            kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
            kernel.mount(empty, BTF, None, kernel.MS_BIND)
        refuses(t, mask, "BTF")

    @case
    def with_a_read_only_bpf_filesystem(t):
        t.own_tracker(loaded=False)
        kernel.mount("bpf", os.path.dirname(t.pin_dir), "bpf", kernel.MS_REMOUNT | kernel.MS_RDONLY)
        refuses(t, None, "bpf filesystem", "read-only")
