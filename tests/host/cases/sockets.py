# SPDX-License-Identifier: GPL-2.0-only
"""Every listening socket is seen once, with the right address, port, scope and age; nothing else is seen."""
import errno
import os

from lib.case import case, need_ipv6, need_mptcp
from lib.play import Refused, boot_time, listening_inodes, pass_time_until, wait_readable


def is_seen(t, server, address, scope="loopback", family="ipv4", protocol="tcp"):
    """Once, so, and as old as it is."""
    row = t.judged(server, "spare", "anchor-alive", scope=scope, family=family, protocol=protocol, port=server.port, inode=server.inode,
                   age_exact=True, opener__pid=server.pid, opener__alive=True)
    assert row["address"] in ([address] if isinstance(address, str) else address), row
    assert [holder["pid"] for holder in row["holders"]] == [server.pid], row
    assert -0.1 <= row["age_s"] <= boot_time() - server.opened + 1, (row, server.opened, boot_time())
    return row


@case
def loopback(t):
    is_seen(t, t.server(t.agent()), "127.0.0.1")


@case
def other_loopback_address(t):
    is_seen(t, t.server(t.agent(), address="127.0.0.2"), "127.0.0.2")


@case
def any_address(t):
    is_seen(t, t.server(t.agent(), address="0.0.0.0"), "0.0.0.0", scope="exposed")


@case
def any_address_bound_to_the_loopback_device(t):
    server = t.agent().spawn_actor("lr-server").listen(t.port(), "0.0.0.0", device="lo")
    is_seen(t, server, "0.0.0.0", scope="loopback")


@case
def ipv6_loopback(t):
    need_ipv6()
    is_seen(t, t.server(t.agent(), address="::1"), "::1", family="ipv6")


@case
def ipv6_any_dual_stack(t):
    need_ipv6()
    is_seen(t, t.server(t.agent(), address="::", options=("dual",)), "::", scope="exposed", family="ipv6")


@case
def ipv6_any_v6only(t):
    need_ipv6()
    is_seen(t, t.server(t.agent(), address="::", options=("v6only",)), "::", scope="exposed", family="ipv6")


@case
def v4_mapped_loopback(t):
    need_ipv6()
    server = t.server(t.agent(), address="::ffff:127.0.0.1", options=("dual",))
    is_seen(t, server, ("::ffff:127.0.0.1", "127.0.0.1"), family="ipv6")


@case
def ipv4_and_ipv6_loopback_on_one_port(t):
    need_ipv6()
    agent, port = t.agent(), t.port()
    four, six = t.server(agent, port=port), t.server(agent, address="::1", port=port)
    is_seen(t, four, "127.0.0.1")
    is_seen(t, six, "::1", family="ipv6")
    assert len(t.status(port)) == 2


@case
def ipv4_and_ipv6_twins_are_judged_apart(t):
    need_ipv6()
    agent, other, port = t.agent(), t.agent(), t.port()
    four, six = t.server(agent, port=port), t.server(other, address="::1", port=port)
    agent.end()
    t.judged(six, "spare", "anchor-alive")
    t.reaped(four, alive=[six, other])


@case
def reuseport_twins(t):
    agent, port = t.agent(), t.port()
    twins = [t.server(agent, port=port, options=("reuseport",)) for _ in range(2)]
    assert twins[0].inode != twins[1].inode
    for twin in twins:
        is_seen(t, twin, "127.0.0.1")
    assert len(t.status(port)) == 2


@case
def reuseport_twins_are_judged_apart(t):
    agent, other, port = t.agent(), t.agent(), t.port()
    orphan, owned = t.server(agent, port=port, options=("reuseport",)), t.server(other, port=port, options=("reuseport",))
    agent.end()
    t.judged(owned, "spare", "anchor-alive")
    t.reaped(orphan, alive=[owned, other])


@case
def listen_without_bind(t):
    t.config("[rule server]\nprogram = lr-server\n")
    server = t.agent().spawn_actor("lr-server")
    server.listen_on(server.socket("0.0.0.0"))
    assert server.port > 0
    is_seen(t, server, "0.0.0.0", scope="exposed")


@case
def listen_twice(t):
    server = t.server(t.agent())
    opened = server.opened
    pass_time_until(opened + 1.5)
    server.listen_on(server.fd, 64)
    server.opened = opened
    assert is_seen(t, server, "127.0.0.1")["age_s"] >= 1.5


@case
def mptcp(t):
    need_mptcp()
    server = t.server(t.agent(), options=("mptcp",))
    is_seen(t, server, "127.0.0.1", protocol="mptcp")
    assert len(t.status(server.port)) == 1


@case
def mptcp_of_an_ended_agent_is_reaped(t):
    need_mptcp()
    agent = t.agent()
    server = t.server(agent, options=("mptcp",))
    agent.end()
    t.reaped(server, protocol="mptcp")
    assert t.status(server.port) == []


@case
def descriptor_copies_and_heirs_are_one_listener(t):
    server = t.server(t.agent())
    server.do("dup", server.fd)
    child = server.fork()
    row = t.listener(server)
    assert sorted(holder["pid"] for holder in row["holders"]) == sorted([server.pid, child.pid]), row


@case
def a_listen_that_fails_is_never_shown(t):
    agent, port = t.agent(), t.port()
    first, second = agent.spawn_actor("lr-server"), agent.spawn_actor("lr-server")
    sockets = [(actor, actor.socket("127.0.0.1", "reuseaddr")) for actor in (first, second)]
    for actor, fd in sockets:
        actor.do("bind", fd, "127.0.0.1", port)
    first.listen_on(sockets[0][1])
    refused = False
    try:
        second.listen_on(sockets[1][1])
    except Refused as error:
        refused = error.errno == errno.EADDRINUSE
    assert refused, "the kernel let both listen"
    rows = t.status(port)
    assert [row["inode"] for row in rows] == [first.inode], rows
    assert all(row["opener"]["pid"] != second.pid for row in t.status())


@case
def a_failed_listen_that_is_retried_is_as_old_as_the_last(t):
    agent, port = t.agent(), t.port()
    first, second = agent.spawn_actor("lr-server"), agent.spawn_actor("lr-server")
    sockets = [(actor, actor.socket("127.0.0.1", "reuseaddr")) for actor in (first, second)]
    for actor, fd in sockets:
        actor.do("bind", fd, "127.0.0.1", port)
    first.listen_on(sockets[0][1])
    failed = boot_time()
    try:
        second.listen_on(sockets[1][1])
    except Refused:
        pass
    pass_time_until(failed + 3)
    first.do("close", first.fd)
    second.listen_on(sockets[1][1])
    row = is_seen(t, second, "127.0.0.1")
    assert row["age_s"] <= boot_time() - second.opened + 0.5 and row["age_s"] < boot_time() - failed - 2, row


@case
def shutdown_and_listen_is_as_old_as_the_last(t):
    server = t.server(t.agent())
    opened = server.opened
    pass_time_until(opened + 3)
    assert t.listener(server)["age_s"] >= 3
    server.do("shutdown", server.fd)
    assert t.status(server.port) == []
    server.listen_on(server.fd)
    row = is_seen(t, server, "127.0.0.1")
    assert row["age_s"] < boot_time() - opened - 2, row


@case
def bound_but_not_listening_and_connected_are_never_shown(t):
    agent = t.agent()
    server, client = t.server(agent), agent.spawn_actor("lr-client")
    idle = agent.spawn_actor("lr-server")
    port = t.port()
    idle.do("bind", idle.socket("127.0.0.1"), "127.0.0.1", port)
    client.connect(server)
    server.accept()
    assert t.status(port) == []
    assert len(t.status(server.port)) == 1
    pids = {holder["pid"] for row in t.status() for holder in row["holders"]}
    assert client.pid not in pids and idle.pid not in pids


@case
def closed_listeners_are_shown_no_more(t):
    server = t.server(t.agent())
    assert len(t.status(server.port)) == 1
    server.do("close", server.fd)
    assert t.status(server.port) == []


@case
def one_that_nobody_holds_is_not_shown_until_somebody_does(t):
    """A descriptor in flight between two processes: no process has it."""
    server = t.server(t.agent())
    server.tell("give", server.fd)
    wait_readable(server.connection, "the descriptor")
    server.tell("exit")
    server.wait_end()
    assert server.inode in listening_inodes(server.port)
    assert t.status(server.port) == []
    server.hear("give")
    (row,) = t.status(server.port)
    assert [holder["pid"] for holder in row["holders"]] == [os.getpid()] and row["reason"] == "floor", row
    os.close(server.came_along)
    assert t.status(server.port) == []


@case
def another_network_namespace(t):
    agent = t.agent()
    server = agent.spawn_actor("lr-server")
    inside = int(server.do("unshare-net")[0])
    server.listen(t.port())
    outside = t.server(agent, port=server.port)
    rows = {row["inode"]: row["netns"] for row in t.status(server.port)}
    assert len(rows) == 2 and rows[server.inode] == inside and rows[outside.inode] != inside, rows


@case
def a_process_whose_leader_exited_holds_its_sockets(t):
    agent = t.agent()
    server = t.server(agent)
    server.do("leader-exit")
    row = t.listener(server)
    assert [holder["pid"] for holder in row["holders"]] == [server.pid], row
    agent.end()
    t.reaped(server)


@case
def many_listeners_of_one_process(t):
    t.config("[rule none]\nprogram = lr-none\n")
    server = t.agent().spawn_actor("lr-server")
    inodes = set()
    for _ in range(200):
        inodes.add(server.listen_on(server.socket("127.0.0.1")).inode)
    seen = [row["inode"] for row in t.status() if row["inode"] in inodes]
    assert sorted(seen) == sorted(inodes), (len(seen), len(inodes))
