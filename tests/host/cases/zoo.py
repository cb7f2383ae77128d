# SPDX-License-Identifier: GPL-2.0-only
"""The zoo: random trees of real processes, each with a truth that comes from how it was built.

LR_ZOO=N:SEED makes N trees (`make zoo N=... SEED=...`); a tree depends on its own number alone, so that a failure is run again by
`tests/host/run zoo.tree_NUMBER` with LR_ZOO=1:NUMBER. The truth below is the design's table once more, written from the text.
"""
import os
import random

from lib.case import case
from lib.play import Process

KINDS = {"agent": "lr-agent", "person": "lr-person", "supervisor": "lr-supervisor", "manager": "lr-cron", "wrapper": "lr-wrapper",
         "other": "lr-tool", "server": "lr-server"}


class Node:
    """One process of the line from the top to the server."""

    def __init__(self, kind, process, has_execed=True):
        self.kind, self.process, self.has_execed = kind, process, has_execed
        self.alive, self.ended_at, self.side_children = True, 0, []

    def __repr__(self):
        return f"{'' if self.has_execed else '~'}{self.kind}({self.process.pid}){'' if self.alive else '!%d' % self.ended_at}"


class Line:
    """Builds a line of births, the top first; `nodes` is the nearest first when done."""

    def __init__(self, t, dice):
        self.t, self.dice, self.down, self.clock = t, dice, [], 0

    def top(self, kind):
        self.actor = self.t.actor(KINDS[kind])
        self.down.append(Node(kind, self.actor))

    def child(self, kind):
        self.actor = self.actor.spawn_actor(KINDS[kind])
        self.down.append(Node(kind, self.actor))

    def fork(self):
        self.actor = self.actor.fork()
        self.down.append(Node(None, self.actor, has_execed=False))

    def become(self, kind):
        """exec: the same process, another program."""
        if not self.down[-1].has_execed and len(self.down) == 1:
            return
        self.actor = self.actor.exec_actor(KINDS[kind])
        node = self.down[-1]
        node.kind, node.process, node.has_execed = kind, self.actor, True

    def shell(self, kind, is_script, stays):
        how = self.actor.script_actor if is_script else self.actor.shell_actor
        shell, self.actor = how(KINDS[kind], "{} &" + ("\nwait" if stays and is_script else " wait" if stays else "")
                                if is_script or stays else "{} &")
        node = Node("script" if is_script else "wrapper", shell)
        if not stays:
            shell.wait_end()
            self.mark_ended(node)
        self.down.append(node)
        self.down.append(Node(kind, self.actor))

    def mark_ended(self, node):
        self.clock += 1
        node.alive, node.ended_at = False, self.clock

    def end(self, node):
        if not node.alive:
            return
        if isinstance(node.process, Process) and hasattr(node.process, "end"):
            node.process.end()
        else:
            node.process.kill()
            node.process.wait_end()
        self.mark_ended(node)
        # A shell that waits for what has just ended ends by itself.
        at = self.down.index(node)
        above = self.down[at - 1] if at else None
        if above and above.alive and above.kind in ("wrapper", "script") and not hasattr(above.process, "end"):
            above.process.wait_end()
            self.mark_ended(above)


class Group:
    """An ancestor that never called exec is one with the process that forked it."""

    def __init__(self, members):
        self.members = members
        elder = members[-1]
        self.kind, self.alive = elder.kind, any(member.alive for member in members)
        self.ended_at = 0 if self.alive else max(member.ended_at for member in members)


def groups_of(ancestors):
    groups, members = [], []
    for node in ancestors:
        members.append(node)
        if node.has_execed:
            groups.append(Group(members))
            members = []
    return groups


def truth(ancestors):
    """(lineage, anchor group) by the table of design.md; nearest ancestor first, the last one lives and is nobody special."""
    groups = groups_of(ancestors)
    between = []
    for i, group in enumerate(groups):
        above = groups[i + 1:]
        if group.kind == "agent":
            if group.alive:
                return "owned", group
            if not any(each.kind == "agent" and each.alive for each in above):
                return "orphan", group
        elif group.kind in ("person", "supervisor"):
            if group.alive:
                return "owned", group
            if not any(each.kind == "agent" for each in above):
                return "operator", group
        elif group.kind == "manager":
            return ask_job(between, group)
        elif group.kind in ("wrapper", "script", "server"):
            pass
        elif group.alive:
            return "owned", group
        between.append(group)
    raise AssertionError("the runner itself lives")


def job_runs(between):
    return not between or any(each.kind == "script" and each.alive for each in between) or \
        (all(each.kind == "wrapper" for each in between) and any(each.alive for each in between))


def ask_job(between, manager):
    others = [each for each in between if each.kind != "wrapper"]
    if job_runs(between):
        return "owned", manager
    if others and all(each.kind == "server" for each in others):
        return "daemon", manager
    own = [i for i, each in enumerate(between) if each.kind == "server" and each.alive]
    if own and job_runs(between[own[-1] + 1:]):
        return "owned", manager
    ended = [each for each in between if not each.alive]
    if not ended:
        return "owned", manager
    return "orphan", max(ended, key=lambda each: each.ended_at)


def doomed(server, ancestors, anchor):
    """Whom a sweep must end besides the server and its children."""
    gone, nearer = [], server
    for group in groups_of(ancestors):
        if group.members[-1] is anchor.members[-1]:
            break
        for node in group.members:
            runs_doomed = nearer.alive and (nearer is server or nearer in gone)
            if node.alive and (group.kind == "server" or
                               (group.kind in ("wrapper", "script") and runs_doomed and not any(child.alive for child in node.side_children))):
                gone.append(node)
            nearer = node
    # And the present children of all these.
    line = [server, *ancestors]
    for nearer, node in reversed(list(zip(line, line[1:]))):
        if node in gone and nearer.alive and nearer not in gone and nearer is not server:
            gone.append(nearer)
    return gone + [child for node in gone for child in node.side_children]


def build(t, dice):
    line = Line(t, dice)
    line.top(dice.choice(["agent", "agent", "agent", "person", "supervisor", "manager", "manager", "other"]))
    for _ in range(dice.randint(0, 5)):
        move = dice.choice(["child", "child", "fork", "become", "sh", "sh-gone", "script", "script-gone", "setsid", "subreaper"])
        kind = dice.choice(["other", "other", "wrapper", "wrapper", "agent", "server", "person", "supervisor", "manager"])
        if move == "child":
            line.child(kind)
        elif move == "fork":
            line.fork()
        elif move == "become" and len(line.down) > 1:
            line.become(kind)
        elif move.startswith(("sh", "script")) and move != "setsid":
            line.shell(kind, move.startswith("script"), not move.endswith("gone"))
        elif move == "setsid" or (move == "subreaper" and line.down[-1].kind not in (None, "wrapper", "script", "server")):
            # A wrapper that adopts what its line lost would be the parent of something doomed: another truth.
            try:
                line.actor.do(move)
            except Exception:   # a group leader cannot: no harm
                pass
        if dice.random() < 0.15 and line.down[-1].kind in ("wrapper", "script") and hasattr(line.down[-1].process, "spawn_actor"):
            line.down[-1].side_children.append(Node("other", line.actor.spawn_actor("lr-other")))
    if dice.random() < 0.5:
        line.child("server")
    else:
        line.shell("server", dice.random() < 0.5, dice.random() < 0.5)
    return line


def tree(t, number):
    dice = random.Random(number)
    # A rule of its own: what was stopped a minute ago at the same port under the same rule would be a respawn.
    t.config(t.rule(f"server-{number}", "program = lr-server"), more="[wrappers]\nprogram = lr-wrapper\n")
    line = build(t, dice)
    ancestors = list(reversed(line.down))
    server = ancestors.pop(0)
    server.process.listen(t.port())
    ending = [node for node in ancestors if dice.random() < 0.6]
    dice.shuffle(ending)
    helper = server.process.spawn_actor("lr-helper") if dice.random() < 0.3 else None
    client = None
    if dice.random() < 0.2:
        client = t.actor("lr-client")
        client.connect(server.process)
    for node in ending:
        line.end(node)
    runner = Node("other", Process(os.getpid()))
    lineage, anchor = truth([*ancestors, runner])
    said = f"tree {number}: {server} <- {ancestors}, {lineage} by {anchor.members}{', a client' if client else ''}"
    everybody = [node for node in ancestors if node.alive] + [child for node in ancestors for child in node.side_children if child.alive]
    try:
        if lineage == "orphan" and not client:
            gone = doomed(server, [*ancestors, runner], anchor)
            t.judged(server.process, "reap", "due", anchor__pid=anchor.members[-1].process.pid)
            output = t.sweep()
            now = [(row["verdict"], row["reason"], row["detail"]) for row in output.json["listeners"] if row["port"] == server.process.port]
            assert server.process.has_ended(), f"the leak lives on, judged {now} by the sweep: {output!r}"
            assert not helper or helper.has_ended(), f"its helper lives on: {output!r}"
            for node in everybody:
                assert node.process.has_ended() == (node in gone), f"{node} {'lives on' if node in gone else 'was ended'}: {output!r}"
        else:
            reason = {"owned": "anchor-alive", "operator": "operator", "daemon": "daemon", "orphan": "in-use"}[lineage]
            t.spared(server.process, reason, *(node.process for node in everybody), *([helper] if helper else []))
    except AssertionError as error:
        raise AssertionError(f"{said}\n{error}") from None


def populate():
    count, _, seed = os.environ.get("LR_ZOO", "0:0").partition(":")
    for number in range(int(seed or 0), int(seed or 0) + int(count)):
        def each(t, number=number):
            tree(t, number)
        each.__name__, each.__module__ = f"tree_{number}", __name__
        case(each)


populate()
