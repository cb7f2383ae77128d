# SPDX-License-Identifier: GPL-2.0-only
"""What would be signalled: the whole tree or nothing. Each member that must live spares it; its twin does not."""
from lib.case import NOBODY, case


def leak_with(t, add):
    """An orphaned server; add(server) puts something below it and returns that."""
    agent = t.agent()
    server = t.server(agent)
    member = add(server)
    agent.end()
    return server, member


@case
def an_ordinary_helper_goes_too(t):
    server, helper = leak_with(t, lambda server: server.spawn_actor("lr-helper"))
    t.reaped(server, helper)


@case
def another_users_process_spares(t):
    def add(server):
        helper = server.spawn_actor("lr-helper")
        helper.do("setuid", NOBODY)
        return helper
    server, helper = leak_with(t, add)
    t.spared(server, "other-user", helper)


@case
def a_whole_tree_of_another_user_goes(t):
    agent = t.agent()
    server = agent.spawn_actor("lr-server")
    server.do("setuid", NOBODY)
    server.listen(t.port())
    helper = server.spawn_actor("lr-helper")
    agent.end()
    t.reaped(server, helper, alive=[])


@case
def a_protected_process_spares(t):
    t.config(more="[protect database]\nprogram = lr-database")
    server, database = leak_with(t, lambda server: server.spawn_actor("lr-database"))
    t.spared(server, "protected", database)
    other, helper = leak_with(t, lambda server: server.spawn_actor("lr-databases"))
    t.reaped(other, helper, alive=[database, server])


@case
def a_protected_process_deep_below_spares(t):
    t.config(more="[protect database]\nprogram = lr-database")
    server, database = leak_with(t, lambda server: server.spawn_actor("lr-helper").spawn_actor("lr-helper").spawn_actor("lr-database"))
    t.spared(server, "protected", database)


@case
def an_interactive_shell_spares(t):
    server, shell = leak_with(t, lambda server: server.pty("bash", "--norc", "--noprofile", "-i"))
    t.spared(server, "protected", shell)


@case
def a_shell_with_a_command_does_not(t):
    server, shell = leak_with(t, lambda server: server.pty("bash", "-c", "read line; :"))
    t.reaped(server, shell)


@case
def a_keeper_spares(t):
    for name in ("lr-agent", "lr-person", "lr-supervisor", "lr-cron"):
        server, keeper = leak_with(t, lambda server: server.spawn_actor(name))
        t.spared(server, "protected", keeper)


@case
def a_browser_that_somebody_looks_at_spares(t):
    server, browser = leak_with(t, lambda server: server.spawn_actor("chromium", "https://example.org"))
    t.spared(server, "protected", browser)


@case
def an_automation_browser_does_not(t):
    server, browser = leak_with(t, lambda server: server.spawn_actor("chromium", "--headless", "--remote-debugging-port=0"))
    t.reaped(server, browser)


@case
def an_editor_spares(t):
    server, editor = leak_with(t, lambda server: server.spawn_actor("vim"))
    t.spared(server, "protected", editor)


@case
def a_listener_that_is_not_due_spares(t):
    server, other = leak_with(t, lambda server: t.server(server, "lr-other"))
    t.spared(server, "protected", other)
    other.do("close", other.fd)
    t.reaped(server, other)


@case
def a_listener_that_only_waits_makes_it_wait(t):
    t.config(defaults="stale-after = 0\nstale-after-exposed = 1h")
    server, late = leak_with(t, lambda server: t.server(server, address="0.0.0.0"))
    t.waits(server, ("young", "recently-orphaned"), late)
    t.config()
    t.reaped(server, late)


@case
def a_second_listener_of_the_same_process_that_is_not_due_spares(t):
    agent = t.agent()
    server = t.server(agent)
    first_port, first_inode = server.port, server.inode
    server.listen(t.port(), "0.0.0.0")
    server.port, server.inode = first_port, first_inode
    agent.end()
    t.config(defaults="stale-after = 0\nstale-after-exposed = 1h")
    t.waits(server, ("young", "recently-orphaned"))
    t.config()
    t.reaped(server)


@case
def two_listeners_of_one_process_are_one_tree(t):
    t.config(settings="max-reaps = 1")
    agent = t.agent()
    server = t.server(agent)
    server.listen(t.port())
    agent.end()
    t.reaped(server)


# Wrappers and scripts above it


@case
def a_script_that_runs_something_else_too_stays_with_it(t):
    agent = t.agent()
    identity = t.play.name()
    script, server = agent.script_actor("lr-server", "{} &\nenv LR_ID=" + identity + " " + t.play.stand_in("lr-other") + " &\nwait")
    server.listen(t.port())
    other = t.play.enter(identity)
    agent.end()
    t.reaped(server, alive=[script, other])


@case
def a_script_that_runs_nothing_else_goes_with_it(t):
    agent = t.agent()
    script, server = agent.script_actor("lr-server", "{} &\nwait")
    server.listen(t.port())
    agent.end()
    t.reaped(server, script)


@case
def a_script_that_runs_two_due_servers_goes_with_both(t):
    agent = t.agent()
    identity = t.play.name()
    script, first = agent.script_actor("lr-server", "{} &\nenv LR_ID=" + identity + " " + t.play.stand_in("lr-server") + " &\nwait")
    first.listen(t.port())
    second = t.play.enter(identity).listen(t.port())
    agent.end()
    t.reaped(first, second, script)


@case
def a_script_that_runs_a_due_server_and_one_in_use_stays_with_the_latter(t):
    agent, client = t.agent(), t.actor("lr-client")
    identity = t.play.name()
    script, first = agent.script_actor("lr-server", "{} &\nenv LR_ID=" + identity + " " + t.play.stand_in("lr-server") + " &\nwait")
    first.listen(t.port())
    second = t.play.enter(identity).listen(t.port())
    client.connect(second)
    second.accept()
    agent.end()
    t.reaped(first, alive=[script, second, client])


@case
def a_script_that_restarts_its_server_ends_before_it(t):
    agent = t.agent()
    identity = t.play.name()
    again = t.play.name()
    server_path = t.play.stand_in("lr-server")
    script = agent.spawn("sh", t.play.file("loop.sh", f"env LR_ID={identity} {server_path}\nenv LR_ID={again} {server_path}\n:\n"))
    server = t.play.enter(identity).listen(t.port())
    agent.end()
    t.reaped(server, script)
    assert not t.play.has_come(again), "the loop restarted what was reaped: it must end first"


@case
def siblings_parents_groups_and_sessions_are_left_alone(t):
    host = t.actor("lr-init")
    host.do("setsid")
    agent = host.spawn_actor("lr-agent")
    server, sibling = t.server(agent), agent.spawn_actor("lr-other")
    same_session = host.spawn_actor("lr-other")
    agent.end()
    assert server.do("who")[2] == sibling.do("who")[2] == same_session.do("who")[2]
    t.reaped(server, alive=[host, sibling, same_session])


@case
def what_was_adopted_by_the_tree_goes_with_it(t):
    """Children are taken by their parent now: a subreaping server owns what it adopted."""
    agent = t.agent()
    server = t.server(agent)
    server.do("subreaper")
    adopted = server.spawn_actor("lr-helper").double_fork()
    agent.end()
    t.reaped(server, adopted)
