# SPDX-License-Identifier: GPL-2.0-only
"""The order of judgement: each reason, and its twin with one fact changed. What the walk says is in walk.py, traffic in use.py, trees in tree.py."""
import os

from lib.case import LISTENREAP, NOBODY, Skip, case
from lib.play import boot_time, pass_time_until

# 2. floor


@case
def floor_an_agent_that_listens_itself(t):
    t.config(t.rule("all", "program = lr-*"))
    outer = t.agent()
    inner = outer.spawn_actor("lr-agent").listen(t.port())
    outer.end()
    t.spared(inner, "floor")


@case
def floor_not_for_a_tool_beside_it(t):
    t.config(t.rule("all", "program = lr-*"))
    outer = t.agent()
    tool = outer.spawn_actor("lr-tool").listen(t.port())
    outer.end()
    t.reaped(tool)


@case
def floor_each_kind_of_keeper(t):
    t.config(t.rule("all", "program = lr-*"), defaults="orphan = any")
    host = t.actor("lr-init")
    for name in ("lr-person", "lr-supervisor", "lr-cron"):
        t.spared(t.server(host, name), "floor")


@case
def floor_whoever_runs_listenreap(t):
    t.config(defaults="orphan = any")
    server = t.server(t.actor("lr-init"))
    fifo = t.play.fifo()
    server.do("spawn", fifo.path, "/bin/sh", "sh", "-c",
              f"{LISTENREAP} sweep --json --pin-dir {t.pin_dir} --config {t.config_path} 2>/dev/null; echo code $?")
    text = fifo.read_until(lambda text: "code " in text and text.endswith("\n"), "sweep")
    assert "code 0" in text and '"floor"' in text.replace(" ", "") or '"floor"' in text, text
    t.are_alive([server])
    t.reaped(server)


# 3. no-rule, foreign-holder


@case
def no_rule_matches(t):
    agent = t.agent()
    server = t.server(agent, "lr-other")
    agent.end()
    t.spared(server, "no-rule", rule=None)


@case
def first_matching_rule_wins(t):
    t.config(t.rule("first", "program = lr-server", "action = report"), t.rule("second", "program = lr-server"))
    agent = t.agent()
    server = t.server(agent)
    agent.end()
    t.spared(server, "report-only", rule="first", orphan="yes")
    t.config(t.rule("second", "program = lr-server"), t.rule("first", "program = lr-server", "action = report"))
    t.reaped(server, rule="second")


@case
def foreign_holder_an_inherited_listener(t):
    agent = t.agent()
    server = t.server(agent)
    server.do("inherit", server.fd)
    sleep = server.spawn("sleep", "1000")
    sleep.port, sleep.inode = server.port, server.inode
    server.end(), agent.end()
    t.spared(sleep, "foreign-holder", opener__comm="lr-server", opener__alive=False)


@case
def foreign_holder_is_none_when_it_is_the_same_program(t):
    agent = t.agent()
    server = t.server(agent)
    child = server.fork()
    child.port, child.inode = server.port, server.inode
    server.end(), agent.end()
    t.reaped(child)


@case
def foreign_holder_a_passed_descriptor_makes_nobody_a_target(t):
    agent = t.agent()
    server = t.server(agent)
    stranger = t.actor("lr-stranger")
    server.do("give", server.fd)
    stranger.do("take", fd=server.came_along)
    os.close(server.came_along)
    stranger.port, stranger.inode = server.port, server.inode
    agent.end()
    t.spared(server, "foreign-holder", stranger)
    server.end()
    t.spared(stranger, ("foreign-holder", "no-rule"))


@case
def foreign_holder_while_it_was_passed_on_and_back(t):
    agent = t.agent()
    server = t.server(agent)
    server.do("give", server.fd)
    copy = server.came_along
    server.do("close", server.fd)
    agent.end()
    t.spared(server, ("foreign-holder", "no-rule", "floor"))  # the test itself holds it now
    server.do("take", fd=copy)
    os.close(copy)
    t.reaped(server)


# 4. opt-out


def leak(t, env=(), child_env=None):
    agent = t.agent()
    server = t.server(agent, env=env)
    child = server.spawn_actor("lr-helper", env=child_env) if child_env is not None else None
    agent.end()
    return server, child


@case
def opt_out_markers(t):
    for marker in ("LISTENREAP_KEEP=1", "LISTENREAP_KEEP=", "BUILD_ID=dontKillMe", "JENKINS_NODE_COOKIE=dontKillMe", "RUNNER_TRACKING_ID="):
        server, _ = leak(t, [marker])
        t.spared(server, "opt-out")


@case
def opt_out_markers_that_are_none(t):
    for marker in ("LISTENREAP_KEPT=1", "BUILD_ID=17", "JENKINS_NODE_COOKIE=abc", "RUNNER_TRACKING_ID=github_1", "XLISTENREAP_KEEP=1"):
        server, _ = leak(t, [marker])
        t.reaped(server)


@case
def opt_out_of_a_child_that_would_be_signalled(t):
    server, child = leak(t, child_env=["LISTENREAP_KEEP=1"])
    t.spared(server, "opt-out", child)
    server, child = leak(t, child_env=["OTHER=1"])
    t.reaped(server, child)


# 5. other-user, namespace, service


@case
def other_user_than_the_rules(t):
    t.config(defaults=f"user = {NOBODY}")
    agent = t.agent()
    servers = [t.server(agent), t.server(agent), t.server(agent)]
    servers[1].do("setuid", NOBODY)
    servers[2].do("setuid", 0, NOBODY)
    agent.end()
    t.judged(servers[0], "spare", "other-user")
    t.judged(servers[2], "spare", "other-user")
    t.reaped(servers[1], alive=[servers[0], servers[2]])


@case
def namespace_of_another_network(t):
    agent = t.agent()
    server = agent.spawn_actor("lr-server")
    netns = int(server.do("unshare-net")[0])
    server.listen(t.port())
    agent.end()
    t.spared(server, "namespace", netns=netns)
    t.config(t.rule("server", "program = lr-server", "netns = any"))
    t.judged(server, "reap", "due", netns=netns)
    t.was_reaped(t.sweep(), server)
    assert server.has_ended()


@case
def namespace_of_other_pids(t):
    agent = t.agent()
    launcher = agent.spawn_actor("lr-tool")
    launcher.do("unshare-pid")
    init = launcher.spawn_actor("lr-server").listen(t.port())
    server = t.server(init)
    launcher.end(), agent.end()
    t.spared(server, "namespace", init)
    t.spared(init, ("floor", "namespace"), server)
    t.config(t.rule("server", "program = lr-server", "pidns = any"))
    t.spared(init, ("floor", "protected"), server)


@case
def service_cgroup(t):
    top = cgroup_top()
    unit, scope = f"{top}/lr-{os.getpid()}.service", f"{top}/lr-{os.getpid()}.scope"
    try:
        os.mkdir(unit), os.mkdir(scope)
        for folder, reason in ((unit, "service"), (scope, "operator")):
            person = t.actor("lr-person")
            server = t.server(person)
            with open(folder + "/cgroup.procs", "w") as file:
                file.write(str(server.pid))
            person.end()
            t.spared(server, reason)
            server.kill()
        agent = t.agent()
        server = t.server(agent)
        with open(unit + "/cgroup.procs", "w") as file:
            file.write(str(server.pid))
        agent.end()
        t.reaped(server)
    finally:
        for server in (unit, scope):
            try:
                os.rmdir(server)
            except OSError:
                pass


def cgroup_top():
    for line in open("/proc/self/cgroup").read().splitlines():
        _, controllers, path = line.split(":", 2)
        for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified") if not controllers else (f"/sys/fs/cgroup/{controllers.removeprefix('name=')}",):
            folder = root + path.rstrip("/")
            if (not controllers or controllers == "name=systemd") and os.access(folder + "/cgroup.procs", os.W_OK):
                return folder
    raise Skip("no cgroup hierarchy is mounted here")


@case
def container_cgroup_is_a_namespace(t):
    top = cgroup_top()
    folder = f"{top}/docker-{'0123456789abcdef' * 4}.scope"
    agent = t.agent()
    server = t.server(agent)
    try:
        os.mkdir(folder)
        with open(folder + "/cgroup.procs", "w") as file:
            file.write(str(server.pid))
        agent.end()
        t.spared(server, "namespace")
        with open(top + "/cgroup.procs", "w") as file:
            file.write(str(server.pid))
        t.reaped(server)
    finally:
        if not server.has_ended():
            server.kill()
        try:
            os.rmdir(folder)
        except OSError:
            pass


# 8. Both clocks (300 s and 299 s are pinned in the unit tests)


@case
def young_before_stale_after(t):
    t.config(defaults="stale-after = 1h")
    agent = t.agent()
    server = t.server(agent)
    agent.end()
    row = t.waits(server, "young", orphan="yes")
    assert 3500 < row["due_s"] <= 3600, row


@case
def recently_orphaned_though_old(t):
    t.config(defaults="stale-after = 5s")
    agent = t.agent()
    server = t.server(agent)
    opened = boot_time()
    pass_time_until(opened + 5)
    agent.end()
    orphaned = boot_time()
    row = t.judged(server, "wait", "recently-orphaned")
    assert row["age_s"] >= 5 and row["orphaned_s"] < 5, row
    pass_time_until(orphaned + 5)
    t.reaped(server)


@case
def exposed_has_its_own_staleness(t):
    t.config(defaults="stale-after = 0\nstale-after-exposed = 1h")
    agent = t.agent()
    inside, outside = t.server(agent), t.server(agent, address="0.0.0.0")
    agent.end()
    t.judged(outside, "wait", "young", scope="exposed")
    t.reaped(inside, scope="loopback", alive=[outside])


# 10. respawned, limit, report-only


@case
def respawned_soon_after_we_stopped_it(t):
    t.config(defaults="orphan = any")
    supervisor, port = t.actor("lr-supervisor"), t.port()
    t.reaped(t.server(supervisor, port=port), alive=[supervisor])
    again = t.server(supervisor, port=port)
    t.spared(again, "respawned")
    t.reaped(t.server(supervisor), alive=[supervisor])


@case
def limit_of_trees_in_one_sweep(t):
    t.config(settings="max-reaps = 2")
    agent = t.agent()
    servers = [t.server(agent) for _ in range(4)]
    agent.end()
    assert [t.listener(server)["reason"] for server in servers].count("limit") == 2
    output = t.sweep(codes=(4,))
    assert sum(server.has_ended() for server in servers) == 2, output
    output = t.sweep()
    assert all(server.has_ended() for server in servers), output


@case
def report_only_signals_nobody(t):
    t.config(t.rule("server", "program = lr-server", "action = report"))
    agent = t.agent()
    server = t.server(agent)
    agent.end()
    t.spared(server, "report-only", rule="server", orphan="yes")
    t.config()
    t.reaped(server)


# Rules' other conditions


@case
def rule_keys_port_scope_env_born_of_anchor_script_with_without(t):
    agent = t.agent()
    port = t.port()
    server = t.server(agent, port=port, arguments=("serve", "--reload", "app"), env=["LR_MARK=yes"])
    agent.end()
    fitting = (f"port = {port}", f"port = {port}-{port}", "scope = loopback", "env = LR_MARK", "env = LR_MARK=y*", "born-of = lr-agent",
               "anchor = agent", "with = --reload", "without = --other", "argv = serve", "argv = serve ...", "argv = serve --* app",
               "argv = ... app", "user = root", "user = 0")
    not_fitting = (f"port = {port + 1}", "scope = exposed", "env = LR_OTHER", "env = LR_MARK=no", "born-of = lr-tool",
                   "anchor = manager", "with = --other", "without = --reload", "argv = --reload ...", "argv = serve app", "argv = ser")
    for line in not_fitting:
        t.config(t.rule("server", "program = lr-server", line))
        row = t.listener(server)
        assert row["reason"] == "no-rule", f"`{line}` fits: {row['reason']}"
    for line in fitting:
        t.config(t.rule("server", "program = lr-server", line))
        row = t.listener(server)
        assert row["reason"] == "due", f"`{line}` does not fit: {row['reason']}"
    t.reaped(server)
