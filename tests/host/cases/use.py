# SPDX-License-Identifier: GPL-2.0-only
"""In use: who is connected, and for whom that counts. The server is an orphan and due in every case but for its clients."""
from lib.case import PYTHON, case, need_ipv6, need_mptcp
from lib.play import boot_time, pass_time_until


def orphan(t, **options):
    agent = t.agent()
    server = t.server(agent, **options)
    agent.end()
    return server


def connected(t, server, client, address="127.0.0.1"):
    """(the client's descriptor, the server's)"""
    return client.connect(server, address), server.accept()


@case
def a_live_client_outside_the_tree_spares(t):
    server, client = orphan(t), t.actor("lr-client")
    theirs, ours = connected(t, server, client)
    row = t.spared(server, "in-use", client, orphan="yes")
    assert row["connections"] == 1, row
    client.do("close", theirs)
    server.do("drain", ours), server.do("close", ours)
    t.reaped(server, alive=[client])


@case
def nobody_connected(t):
    server, client = orphan(t), t.actor("lr-client")
    assert t.judged(server, "reap", "due")["connections"] == 0
    t.reaped(server, alive=[client])


@case
def a_client_that_waits_in_the_queue_spares(t):
    server, client = orphan(t), t.actor("lr-client")
    client.connect(server)
    t.spared(server, "in-use", client)
    client.end()


@case
def a_client_of_the_tree_itself_does_not_count(t):
    agent = t.agent()
    server = t.server(agent)
    child = server.spawn_actor("lr-helper")
    agent.end()
    connected(t, server, child)
    t.reaped(server, child)


@case
def in_use_reap_reaps_all_the_same(t):
    t.config(defaults="in-use = reap")
    server, client = orphan(t), t.actor("lr-client")
    connected(t, server, client)
    t.reaped(server, alive=[client])


@case
def a_connection_that_a_child_serves_counts(t):
    server, client = orphan(t), t.actor("lr-client")
    theirs, ours = connected(t, server, client)
    child = server.fork()
    server.do("close", ours)
    t.spared(server, "in-use", child, client)
    client.do("close", theirs)
    child.do("close", ours)
    t.reaped(server, child)


@case
def a_connection_of_the_tree_as_a_client_elsewhere_does_not_count(t):
    server = orphan(t)
    other = t.actor("lr-other").listen(t.port())
    server.connect(other)
    other.accept()
    t.reaped(server, alive=[other])


# Twins on the same port number


@case
def a_client_of_the_reuseport_twin_does_not_count(t):
    port, owner, client = t.port(), t.actor("lr-owner"), t.actor("lr-client")
    twin = t.server(owner, port=port, options=("reuseport",))
    connected(t, twin, client)
    server = orphan(t, port=port, options=("reuseport",))
    t.judged(twin, "spare", "anchor-alive")
    t.reaped(server, alive=[twin, client])


@case
def a_client_in_the_queue_of_the_reuseport_twin_does_not_count(t):
    port, owner, client = t.port(), t.actor("lr-owner"), t.actor("lr-client")
    twin = t.server(owner, port=port, options=("reuseport",))
    client.connect(twin)
    server = orphan(t, port=port, options=("reuseport",))
    t.reaped(server, alive=[twin, client])


@case
def a_client_of_the_reuseport_orphan_itself_counts(t):
    port, owner, client = t.port(), t.actor("lr-owner"), t.actor("lr-client")
    server = orphan(t, port=port, options=("reuseport",))
    connected(t, server, client)
    twin = t.server(owner, port=port, options=("reuseport",))
    t.spared(server, "in-use", twin, client)


@case
def a_client_of_the_ipv6_twin_does_not_count(t):
    need_ipv6()
    port, owner, client = t.port(), t.actor("lr-owner"), t.actor("lr-client")
    twin = t.server(owner, port=port, address="::1")
    server = orphan(t, port=port)
    connected(t, twin, client, "::1")
    t.reaped(server, alive=[twin, client])


@case
def a_client_of_the_ipv6_orphan_itself_counts(t):
    need_ipv6()
    port, owner, client = t.port(), t.actor("lr-owner"), t.actor("lr-client")
    twin = t.server(owner, port=port)
    server = orphan(t, port=port, address="::1")
    connected(t, server, client, "::1")
    t.spared(server, "in-use", twin, client)


@case
def an_ipv4_client_of_a_dual_stack_server_counts(t):
    need_ipv6()
    server, client = orphan(t, address="::", options=("dual",)), t.actor("lr-client")
    connected(t, server, client)
    t.spared(server, "in-use", client)


# Leftovers do not keep each other alive


@case
def a_leftover_of_the_same_agent_does_not_count(t):
    t.config(t.rule("server", "program = lr-server"), "[rule browser]\nprogram = lr-browser\nargv = --headless ...\n")
    agent = t.agent()
    server, browser = t.server(agent), agent.spawn_actor("lr-browser", "--headless")
    connected(t, server, browser)
    agent.end()
    t.reaped(server)


@case
def something_without_a_rule_of_the_same_agent_counts(t):
    agent = t.agent()
    server, client = t.server(agent), agent.spawn_actor("lr-client")
    connected(t, server, client)
    agent.end()
    t.spared(server, "in-use", client)


@case
def a_leftover_of_another_agent_counts(t):
    t.config(t.rule("server", "program = lr-server"), "[rule browser]\nprogram = lr-browser\nargv = --headless ...\n")
    agent, other = t.agent(), t.agent()
    server, browser = t.server(agent), other.spawn_actor("lr-browser", "--headless")
    connected(t, server, browser)
    agent.end()
    t.spared(server, "in-use", browser)
    other.end()
    t.spared(server, "in-use", browser)


# The minute after


def served_and_left(t):
    """A server that closed first, as HTTP servers do: the kernel remembers it for a minute."""
    server, client = orphan(t), t.actor("lr-client")
    theirs, ours = connected(t, server, client)
    server.do("close", ours)
    client.do("drain", theirs), client.do("close", theirs)
    return server, client, boot_time()


@case
def a_client_that_just_left_spares(t):
    server, client, _ = served_and_left(t)
    row = t.spared(server, "in-use", client)
    assert row["connections"] == 0, row


@case
def a_client_that_just_left_does_not_spare_when_in_use_is_reap(t):
    t.config(defaults="in-use = reap")
    server, client, _ = served_and_left(t)
    t.reaped(server, alive=[client])


@case
def a_client_that_just_left_the_ipv6_twin_does_not_spare(t):
    need_ipv6()
    port, owner, client = t.port(), t.actor("lr-owner"), t.actor("lr-client")
    twin, server = t.server(owner, port=port, address="::1"), orphan(t, port=port)
    theirs, ours = connected(t, twin, client, "::1")
    twin.do("close", ours)
    client.do("drain", theirs), client.do("close", theirs)
    t.reaped(server, alive=[twin])


@case(slow=True)
def a_client_that_left_spares_for_a_minute_then_no_more(t):
    server, client, left = served_and_left(t)
    t.spared(server, "in-use", client)
    pass_time_until(left + 57)
    t.spared(server, "in-use", client)
    pass_time_until(left + 63)
    t.reaped(server, alive=[client])


@case(slow=True)
def the_first_report_with_a_client_from_first_to_last(t):
    agent, client = t.agent(), t.actor("lr-client")
    server = t.http_server(agent)
    fd = client.connect(server)
    agent.end()
    t.spared(server, "in-use", client)
    # Half a request and then nothing: http.server waits for the rest until the client goes.
    client.do("shutdown", fd), client.do("drain", fd), client.do("close", fd)
    left = boot_time()
    said = t.listener(server)
    assert said["reason"] in ("in-use", "due"), said
    pass_time_until(left + 63)
    t.reaped(server, alive=[client])


@case
def a_client_in_another_network_namespace_with_the_same_numbers_does_not_count(t):
    server = orphan(t)
    there = t.actor("lr-other")
    there.do("unshare-net")
    there.listen(server.port)
    for is_closed in (False, True):
        theirs = there.connect(there)
        ours = there.accept()
        if is_closed:  # by the server's side first: a TIME_WAIT of that port, there
            there.do("close", ours), there.do("drain", theirs), there.do("close", theirs)
    t.reaped(server, alive=[there])


@case
def a_remote_like_peer_that_nobody_holds_counts(t):
    """The client's process has ended with its data unread and its socket lingers: nobody here holds the peer."""
    server = orphan(t)
    client = t.agent("lr-agent-client")
    client.do("spawn", "", PYTHON, PYTHON, "-c",
              f"import socket, os; s = socket.create_connection(('127.0.0.1', {server.port})); s.recv(1); os._exit(0)")
    ours = server.accept()
    t.spared(server, "in-use")
    server.do("close", ours)


@case
def a_client_that_waits_in_an_mptcp_queue_spares(t):
    need_mptcp()
    agent = t.agent()
    server = t.server(agent, options=("mptcp",))
    client = t.actor("lr-client")
    client.connect(server)
    agent.end()
    t.spared(server, "in-use", connections=1)
