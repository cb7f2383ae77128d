# SPDX-License-Identifier: GPL-2.0-only
"""The walk to the anchor: each row of design.md's table, alive and ended, with real processes. A case is a row."""
import os
import signal

from lib.case import NOBODY, case
from lib.play import boot_time

# not recorded


@case
def not_recorded_live_agent_at_load_counts_and_its_end_is_seen(t):
    t.own_tracker(loaded=False)
    agent = t.agent()
    server = t.server(agent)
    t.load()
    t.spared(server, "anchor-alive", agent, anchor__pid=agent.pid, age_exact=False)
    agent.end()
    t.reaped(server, age_exact=False)


@case
def not_recorded_end_before_load_is_unknown_below_a_manager(t):
    t.own_tracker(loaded=False)
    cron = t.actor("lr-cron")
    cron.do("subreaper")
    agent = cron.spawn_actor("lr-agent")
    server = t.server(agent)
    agent.end()
    t.load()
    t.spared(server, "lineage-unknown", cron, orphan="unknown", anchor=None)


@case
def not_recorded_end_before_load_is_judged_by_a_live_anchor_otherwise(t):
    t.own_tracker(loaded=False)
    host = t.actor("lr-init")
    host.do("subreaper")
    agent = host.spawn_actor("lr-agent")
    server = t.server(agent)
    agent.end()
    t.load()
    t.spared(server, "anchor-alive", host, anchor__pid=host.pid)


@case
def not_recorded_births_after_load_are_witnessed(t):
    t.own_tracker(loaded=False)
    cron = t.actor("lr-cron")
    cron.do("subreaper")
    t.load()
    agent = cron.spawn_actor("lr-agent")
    server = t.server(agent)
    agent.end()
    t.reaped(server, alive=[cron], age_exact=True)


# agent


@case
def agent_alive(t):
    agent = t.agent()
    t.spared(t.server(agent), "anchor-alive", anchor__kind="agent", anchor__pid=agent.pid, anchor__comm="lr-agent")


@case
def agent_ended(t):
    agent = t.agent()
    server = t.server(agent)
    agent.end()
    t.reaped(server, orphan="yes", anchor__kind="agent", anchor__pid=agent.pid, anchor__alive=False)


@case
def agent_killed(t):
    agent = t.agent()
    server = t.server(agent)
    agent.kill()
    t.reaped(server)


@case
def agent_ended_below_a_live_agent_is_skipped(t):
    outer = t.agent("lr-agent-outer")
    inner = outer.spawn_actor("lr-agent-inner")
    server = t.server(inner)
    inner.end()
    t.spared(server, "anchor-alive", outer, anchor__pid=outer.pid)


@case
def agent_ended_below_an_ended_agent(t):
    outer = t.agent("lr-agent-outer")
    inner = outer.spawn_actor("lr-agent-inner")
    server = t.server(inner)
    outer.end()
    t.spared(server, "anchor-alive", inner, anchor__pid=inner.pid)
    inner.end()
    t.reaped(server)


@case
def agent_that_is_a_zombie_has_ended(t):
    host = t.actor("lr-init")
    agent = host.spawn_actor("lr-agent")
    server = t.server(agent)
    agent.end()
    assert agent.state() == "Z"
    t.reaped(server, alive=[host])


@case
def agent_whose_leader_thread_exited_is_alive(t):
    agent = t.agent()
    agent.do("leader-exit")
    server = t.server(agent)
    t.spared(server, "anchor-alive", agent, anchor__pid=agent.pid)
    agent.end()
    t.reaped(server)


@case
def agent_that_forked_from_a_thread(t):
    agent = t.agent()
    child = agent.fork("fork-from-thread")
    server = t.server(child)
    child.end()
    t.spared(server, "anchor-alive", agent, anchor__pid=agent.pid)
    agent.end()
    t.reaped(server)


@case
def agent_that_execed_from_a_thread_is_still_the_ancestor(t):
    agent = t.agent()
    server = t.server(agent)
    renewed = agent.exec_actor("lr-agent", how="exec-from-thread")
    assert renewed.pid == agent.pid
    t.spared(server, "anchor-alive", renewed, anchor__pid=agent.pid)
    renewed.end()
    t.reaped(server)


@case
def agent_that_became_another_program_is_an_agent_no_more(t):
    agent = t.agent()
    server = t.server(agent)
    tool = agent.exec_actor("lr-tool")
    t.spared(server, "anchor-alive", tool, anchor__kind="other", anchor__comm="lr-tool")


@case
def program_that_became_an_agent_is_one(t):
    tool = t.actor("lr-tool")
    server = t.server(tool)
    agent = tool.exec_actor("lr-agent")
    t.spared(server, "anchor-alive", agent, anchor__kind="agent")
    agent.end()
    t.reaped(server, anchor__kind="agent")


# person, supervisor


@case
def person_alive(t):
    person = t.actor("lr-person")
    t.spared(t.server(person), "anchor-alive", person, anchor__kind="person", anchor__pid=person.pid)


@case
def person_ended_leaves_an_operators_own(t):
    person = t.actor("lr-person")
    server = t.server(person)
    person.end()
    t.spared(server, "operator", orphan="yes", anchor__kind="person", anchor__pid=person.pid)


@case
def person_ended_below_an_agent_is_skipped(t):
    agent = t.agent()
    person = agent.spawn_actor("lr-person")
    server = t.server(person)
    person.end()
    t.spared(server, "anchor-alive", agent, anchor__kind="agent", anchor__pid=agent.pid)
    agent.end()
    t.reaped(server, anchor__kind="agent")


@case
def person_is_an_interactive_shell_by_nature(t):
    emulator, shell = t.terminal()
    server = t.typed_actor(shell, "lr-server", "{} &").listen(t.port())
    t.spared(server, "anchor-alive", shell, anchor__kind="person", anchor__comm="bash")
    shell.leave()
    t.spared(server, "operator", emulator, anchor__kind="person")


@case
def person_is_no_shell_with_a_command_though_it_has_a_terminal(t):
    agent = t.agent()
    identity = t.play.name()
    shell = agent.pty("bash", "-c", f"env LR_ID={identity} {t.play.stand_in('lr-server')} & wait")
    server = t.play.enter(identity).listen(t.port())
    agent.end()
    t.reaped(server, shell, anchor__kind="agent")


@case
def person_is_no_script_though_it_has_a_terminal(t):
    agent = t.agent()
    identity = t.play.name()
    script = t.play.file("dev.sh", f"env LR_ID={identity} {t.play.stand_in('lr-server')} & wait\n")
    shell = agent.pty("bash", script)
    server = t.play.enter(identity).listen(t.port())
    agent.end()
    t.reaped(server, shell, anchor__kind="agent")


@case
def person_whose_agent_below_ended(t):
    emulator, shell = t.terminal()
    agent = t.typed_actor(shell, "lr-agent", "{}")
    server = t.server(agent)
    agent.end()
    t.reaped(server, alive=[emulator, shell])


@case
def supervisor_alive(t):
    supervisor = t.actor("lr-supervisor")
    t.spared(t.server(supervisor), "anchor-alive", supervisor, anchor__kind="supervisor")


@case
def supervisor_ended_leaves_an_operators_own(t):
    supervisor = t.actor("lr-supervisor")
    server = t.server(supervisor)
    supervisor.end()
    t.spared(server, "operator", orphan="yes", anchor__kind="supervisor")


@case
def supervisor_ended_below_an_agent_is_skipped(t):
    agent = t.agent()
    supervisor = agent.spawn_actor("lr-supervisor")
    server = t.server(supervisor)
    supervisor.end()
    t.spared(server, "anchor-alive", agent, anchor__pid=agent.pid)
    agent.end()
    t.reaped(server)


# manager: the job below it decides


@case
def manager_born_directly_of_it(t):
    cron = t.actor("lr-cron")
    t.spared(t.server(cron), "anchor-alive", cron, anchor__kind="manager", anchor__pid=cron.pid)


@case
def manager_born_directly_of_it_though_it_ended(t):
    cron = t.actor("lr-cron")
    server = t.server(cron)
    cron.end()
    t.spared(server, "anchor-alive", anchor__kind="manager", anchor__alive=False)


@case
def manager_with_a_live_script_in_between(t):
    cron = t.actor("lr-cron")
    shell, server = cron.script_actor("lr-server", "{} &\nwait")
    server.listen(t.port())
    t.spared(server, "anchor-alive", shell, cron, anchor__kind="manager")
    cron.end()
    t.spared(server, "anchor-alive", shell)


@case
def manager_with_an_ended_script_in_between(t):
    cron = t.actor("lr-cron")
    shell, server = cron.script_actor("lr-server", "{} &")
    server.listen(t.port())
    shell.wait_end()
    t.reaped(server, alive=[cron], orphan="yes", anchor__pid=shell.pid, anchor__alive=False)


@case
def manager_ended_with_an_ended_script_in_between(t):
    cron = t.actor("lr-cron")
    shell, server = cron.script_actor("lr-server", "{} &")
    server.listen(t.port())
    shell.wait_end()
    cron.end()
    t.reaped(server)


@case
def manager_with_only_wrappers_one_alive(t):
    cron = t.actor("lr-cron")
    outer = cron.spawn_actor("nohup")
    shell, server = outer.shell_actor("lr-server", "{} &")
    server.listen(t.port())
    shell.wait_end()
    t.spared(server, "anchor-alive", outer, cron, anchor__kind="manager")
    outer.end()
    t.reaped(server, alive=[cron])


@case
def manager_with_a_live_wrapper_below_an_ended_program(t):
    cron = t.actor("lr-cron")
    job = cron.spawn_actor("lr-job")
    shell, server = job.shell_actor("lr-server", "{}; :")
    server.listen(t.port())
    t.spared(server, "anchor-alive", job, anchor__pid=job.pid)
    job.end()
    t.reaped(server, shell, alive=[cron])


@case
def manager_whose_jobs_program_ended(t):
    cron = t.actor("lr-cron")
    job = cron.spawn_actor("lr-job")
    server = t.server(job)
    t.spared(server, "anchor-alive", job, anchor__kind="other", anchor__pid=job.pid)
    job.end()
    t.reaped(server, alive=[cron], anchor__pid=job.pid)


@case
def manager_with_nothing_but_its_own_program_in_between_is_a_daemon(t):
    cron = t.actor("lr-cron")
    first = cron.spawn_actor("lr-server")
    server = first.double_fork().listen(t.port())
    first.end()
    t.spared(server, "daemon", cron, orphan="no")


@case
def manager_whose_wrapper_started_a_daemon(t):
    cron = t.actor("lr-cron")
    shell, first = cron.shell_actor("lr-server", "{} &")
    shell.wait_end()
    server = first.double_fork().listen(t.port())
    first.end()
    t.spared(server, "daemon", cron)


@case
def manager_whose_job_was_born_within_boot_is_a_daemon(t):
    t.config(boot="1h")
    cron = t.actor("lr-cron")
    shell, server = cron.script_actor("lr-server", "{} &")
    server.listen(t.port())
    shell.wait_end()
    t.spared(server, "daemon", cron)


@case
def manager_by_name_alone_is_none(t):
    cron = t.actor("lr-cron", owner=NOBODY)
    shell, server = cron.script_actor("lr-server", "{} &")
    server.listen(t.port())
    shell.wait_end()
    t.spared(server, "anchor-alive", cron, anchor__kind="other", anchor__pid=cron.pid)


@case
def manager_below_an_agent_answers_first(t):
    agent = t.agent()
    cron = agent.spawn_actor("lr-cron")
    shell, server = cron.script_actor("lr-server", "{} &\nwait")
    server.listen(t.port())
    agent.end()
    t.spared(server, "anchor-alive", cron, anchor__kind="manager")


# wrapper, script


@case
def wrapper_alive_and_ended_is_skipped(t):
    agent = t.agent()
    outer, server = agent.shell_actor("lr-server", "sh -c '{}; :'; :")
    server.listen(t.port())
    gone, other = agent.shell_actor("lr-server", "sh -c '{} &'")
    other.listen(t.port())
    gone.wait_end()
    t.spared(server, "anchor-alive", outer, anchor__pid=agent.pid)
    t.spared(other, "anchor-alive", anchor__pid=agent.pid)
    agent.end()
    t.reaped(server, outer, other)


@case
def script_alive_and_ended_is_skipped(t):
    agent = t.agent()
    script, server = agent.script_actor("lr-server", "{} &\nwait")
    server.listen(t.port())
    gone, other = agent.script_actor("lr-server", "{} &")
    other.listen(t.port())
    gone.wait_end()
    t.spared(server, "anchor-alive", script, anchor__pid=agent.pid)
    t.spared(other, "anchor-alive", anchor__pid=agent.pid)
    agent.end()
    t.reaped(server, script, other)


@case
def script_from_a_terminal_that_ended_leaves_it_to_the_terminals_shell(t):
    emulator, shell = t.terminal()
    identity = t.play.name()
    script = t.play.file("dev.sh", f"env LR_ID={identity} {t.play.stand_in('lr-server')} &\n")
    shell.type(f"sh {script}\n")
    server = t.play.enter(identity).listen(t.port())
    t.spared(server, "anchor-alive", shell, anchor__pid=shell.pid)


@case
def script_on_standard_input_is_skipped(t):
    agent = t.agent()
    identity = t.play.name()
    fifo = t.play.fifo()
    shell = agent.spawn("sh", "-c", f"exec sh <{fifo.path}")
    os.write(fifo.fd, f"env LR_ID={identity} {t.play.stand_in('lr-server')} &\n".encode())
    server = t.play.enter(identity).listen(t.port())
    agent.end()
    t.reaped(server, anchor__kind="agent")
    assert shell


# the same rule matches it


@case
def same_rule_parent_alive_under_an_ended_agent_goes_too(t):
    agent = t.agent()
    parent = agent.spawn_actor("lr-server")
    child = parent.fork().listen(t.port())
    agent.end()
    t.reaped(child, parent)


@case
def same_rule_parent_alive_under_a_live_agent(t):
    agent = t.agent()
    parent = agent.spawn_actor("lr-server")
    child = parent.spawn_actor("lr-server").listen(t.port())
    t.spared(child, "anchor-alive", parent, agent, anchor__pid=agent.pid)


@case
def same_rule_parent_ended_under_an_ended_agent(t):
    agent = t.agent()
    parent = agent.spawn_actor("lr-server")
    child = parent.spawn_actor("lr-server").listen(t.port())
    agent.end(), parent.end()
    t.reaped(child)


@case
def same_rule_parent_ended_under_a_live_agent(t):
    agent = t.agent()
    parent = agent.spawn_actor("lr-server")
    child = parent.spawn_actor("lr-server").listen(t.port())
    parent.end()
    t.spared(child, "anchor-alive", agent, anchor__pid=agent.pid)


@case
def prefork_workers_and_their_master_are_judged_together(t):
    agent = t.agent()
    master = t.server(agent)
    workers = [master.fork() for _ in range(3)]
    row = t.spared(master, "anchor-alive", *workers)
    assert {holder["pid"] for holder in row["holders"]} == {master.pid, *(worker.pid for worker in workers)}, row
    agent.end()
    t.reaped(master, *workers)


@case
def prefork_workers_whose_master_was_killed(t):
    agent = t.agent()
    master = t.server(agent)
    workers = [master.fork() for _ in range(3)]
    for worker in workers:
        worker.port, worker.inode = master.port, master.inode
    master.kill()
    t.spared(workers[0], "anchor-alive", *workers, opener__alive=False, opener__pid=master.pid)
    agent.end()
    t.reaped(workers[0], *workers)


# any other program


@case
def other_program_alive(t):
    agent = t.agent()
    tool = agent.spawn_actor("lr-tool")
    server = t.server(tool)
    agent.end()
    t.spared(server, "anchor-alive", tool, anchor__kind="other", anchor__pid=tool.pid)


@case
def other_program_ended_is_skipped(t):
    agent = t.agent()
    tool = agent.spawn_actor("lr-tool")
    server = t.server(tool)
    tool.end()
    t.spared(server, "anchor-alive", agent, anchor__pid=agent.pid)
    agent.end()
    t.reaped(server)


# never exec'd: one with the process that forked it


@case
def never_execed_child_of_an_agent_keeps_it_alive(t):
    agent = t.agent()
    child = agent.fork()
    server = t.server(child)
    agent.end()
    t.spared(server, "anchor-alive", child)
    child.end()
    t.reaped(server)


@case
def never_execed_middle_that_ended_while_the_agent_lives(t):
    agent = t.agent()
    middle = agent.fork()
    server = t.server(middle)
    middle.end()
    t.spared(server, "anchor-alive", agent, anchor__pid=agent.pid)


@case
def never_execed_subshell_is_one_with_its_script(t):
    cron = t.actor("lr-cron")
    script, server = cron.script_actor("lr-server", "({} & wait) &\nwait")
    server.listen(t.port())
    t.spared(server, "anchor-alive", script)
    script.signal(signal.SIGKILL)
    script.wait_end()
    # Its subshell still waits for the server: the script lives in it.
    t.spared(server, "anchor-alive", cron)


@case
def double_fork_changes_nothing(t):
    agent = t.agent()
    server = agent.double_fork().exec_actor("lr-server").listen(t.port())
    t.spared(server, "anchor-alive", agent, anchor__pid=agent.pid)
    agent.end()
    t.reaped(server)


# orphan = parent, any


@case
def orphan_parent_asks_the_nearest_real_ancestor_alone(t):
    t.config(defaults="orphan = parent")
    agent = t.agent()
    tool = agent.spawn_actor("lr-tool")
    shell, server = tool.shell_actor("lr-server", "{} &")
    server.listen(t.port())
    shell.wait_end()
    t.spared(server, "anchor-alive", tool, anchor__pid=tool.pid)
    tool.end()
    t.reaped(server, alive=[agent])


@case
def orphan_any_does_not_ask(t):
    t.config(defaults="orphan = any")
    agent = t.agent()
    t.reaped(t.server(agent), alive=[agent])


@case
def a_long_chain_of_ended_ancestors(t):
    agent = t.agent()
    chain = [agent]
    for depth in range(40):
        chain.append(chain[-1].spawn_actor("lr-tool") if depth % 2 else chain[-1].fork())
    server = t.server(chain[-1])
    for process in reversed(chain[1:]):
        process.end()
    t.spared(server, "anchor-alive", agent, anchor__pid=agent.pid)
    agent.end()
    t.reaped(server)


@case
def orphaned_since_counts_from_the_last_end_that_made_it_one(t):
    t.config(defaults="stale-after = 1h")
    agent = t.agent()
    tool = agent.spawn_actor("lr-tool")
    server = t.server(tool)
    agent.end()
    before = boot_time()
    tool.end()
    row = t.judged(server, "wait", "young", orphan="yes")
    assert 0 <= row["orphaned_s"] <= boot_time() - before + 0.1, row
    assert row["age_s"] >= row["orphaned_s"], row
    assert abs(row["due_s"] - (3600 - row["orphaned_s"])) < 1, row
