/* SPDX-License-Identifier: GPL-2.0-only */
/* The order of judgement: each reason, each twin, what comes before what, and who dies. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include "world.h"

#define LEAK "init > claude !100 > python3 -m http.server 8000 *"
#define NOW 1000

/* The server of LEAK, and others by name. */
#define SERVER (world->holders[0].process)
#define AT(exe) (&world->processes[world_find(world, exe)])

static void set_environment(struct process *process, const char *bytes, size_t size)
{
	process->environment = (struct argv){ .bytes = bytes, .length = size, .is_known = true };
}

#define ENVIRONMENT(process, text) set_environment(process, text, sizeof(text))

static void connect_client(struct world *world, int server, int client, uint16_t port)
{
	struct address loopback = { .family = AF_INET, .bytes = { 127, 0, 0, 1 } };

	world->connections[world->connection_count++] = (struct connection){
		.holder = server, .queue = NONE, .netns = 1, .local = loopback, .remote = loopback, .local_port = port, .remote_port = 50000,
	};
	if (client != NONE)
		world->connections[world->connection_count++] = (struct connection){
			.holder = client, .queue = NONE, .netns = 1, .local = loopback, .remote = loopback, .local_port = 50000, .remote_port = port,
		};
}

/* One fact changed. */
static void as_it_is(struct world *world) { (void)world; }
static void all_holders_ended(struct world *world) { world->processes[SERVER].end_boot_ns = 999 * SECOND; }
static void no_record_of_listen(struct world *world) { world->listeners[0].opened_boot_ns = 0; }
static void opened_in_the_future(struct world *world) { world->listeners[0].opened_boot_ns = 2000 * SECOND; }
static void is_init_of_a_namespace(struct world *world) { world->processes[SERVER].is_ns_init = true; }
static void runs_listenreap(struct world *world) { world->processes[SERVER].is_self_or_ancestor = true; }
static void keeps_marker(struct world *world) { ENVIRONMENT(&world->processes[SERVER], "A=b\0LISTENREAP_KEEP=1"); }
static void keeps_empty_marker(struct world *world) { ENVIRONMENT(&world->processes[SERVER], "LISTENREAP_KEEP="); }
static void keeps_misspelt_marker(struct world *world) { ENVIRONMENT(&world->processes[SERVER], "LISTENREAP_KEPT=1"); }
static void build_id(struct world *world) { ENVIRONMENT(&world->processes[SERVER], "BUILD_ID=dontKillMe"); }
static void build_id_of_jenkins(struct world *world) { ENVIRONMENT(&world->processes[SERVER], "BUILD_ID=42"); }
static void node_cookie(struct world *world) { ENVIRONMENT(&world->processes[SERVER], "JENKINS_NODE_COOKIE=dontKillMe"); }
static void tracking_id_empty(struct world *world) { ENVIRONMENT(&world->processes[SERVER], "RUNNER_TRACKING_ID="); }
static void tracking_id_set(struct world *world) { ENVIRONMENT(&world->processes[SERVER], "RUNNER_TRACKING_ID=github_1"); }
static void environment_hidden(struct world *world) { world->processes[SERVER].environ = FACT_UNREADABLE; }
static void kept_by_hand(struct world *world) { world->listeners[0].is_kept = true; }
static void mixed_user(struct world *world) { world->processes[SERVER].is_mixed_uid = true; }
static void details_hidden(struct world *world) { world->processes[SERVER].details = FACT_UNREADABLE; }
static void other_netns(struct world *world) { world->listeners[0].netns = 7; }
static void other_netns_of_holder(struct world *world) { world->processes[SERVER].netns = 7; }
static void other_pidns(struct world *world) { world->processes[SERVER].pidns = 7; }
static void pidns_hidden(struct world *world) { world->processes[SERVER].pidns = 0; }
static void in_docker(struct world *world) { world->processes[SERVER].cgroup = "0::/system.slice/docker-1.scope\n"; }
static void cgroup_hidden(struct world *world) { world->processes[SERVER].cgroup = NULL; }
static void in_service(struct world *world) { world->processes[SERVER].cgroup = "0::/system.slice/web.service\n"; }
static void agent_lives(struct world *world) { AT("claude")->end_boot_ns = 0; }
static void agent_just_ended(struct world *world) { AT("claude")->end_boot_ns = 701 * SECOND; }
static void agent_ended_in_time(struct world *world) { AT("claude")->end_boot_ns = 700 * SECOND; }
static void opened_just_now(struct world *world) { world->listeners[0].opened_boot_ns = 701 * SECOND; }
static void opened_in_time(struct world *world) { world->listeners[0].opened_boot_ns = 700 * SECOND; }
static void client_outside(struct world *world) { connect_client(world, SERVER, world_add(world, 0, "curl"), 8000); }
static void client_remote(struct world *world) { connect_client(world, SERVER, NONE, 8000); }
static void client_in_tree(struct world *world) { connect_client(world, SERVER, SERVER, 8000); }
static void client_of_other_port(struct world *world) { connect_client(world, SERVER, NONE, 9000); }
static void client_of_a_stranger(struct world *world) { connect_client(world, world_add(world, 0, "other"), NONE, 8000); }
static void connections_hidden(struct world *world) { world->connection_table = FACT_UNREADABLE; }
static void client_queued(struct world *world)
{
	connect_client(world, NONE, NONE, 8000);
	world->connections[0].queue = 0;
}
static void client_queued_elsewhere(struct world *world)
{
	int other = world_listen(world, world_add(world, 0, "other"), 8000, 10);

	connect_client(world, NONE, NONE, 8000);
	world->connections[0].queue = other;
}
static void client_leftover(struct world *world)
{
	connect_client(world, SERVER, world_add(world, world_find(world, "claude"), "node /x/node_modules/.bin/vite"), 8000);
}
static void client_leftover_of_another(struct world *world)
{
	connect_client(world, SERVER, world_add(world, 0, "codex !90 > node /x/node_modules/.bin/vite"), 8000);
}
static void time_wait(struct world *world)
{
	world->time_waits[world->time_wait_count++] =
		(struct time_wait){ .netns = 1, .local = { .family = AF_INET, .bytes = { 127, 0, 0, 1 } }, .local_port = 8000 };
}
static void time_wait_elsewhere(struct world *world)
{
	time_wait(world);
	world->time_waits[0].netns = 9;
}
static void stopped_before(struct world *world)
{
	world->listeners[0].opened_boot_ns = 300 * SECOND;
	world->listeners[0].stopped_boot_ns = 250 * SECOND;
	world->listeners[0].has_stop = true;
}
static void stopped_long_before(struct world *world)
{
	stopped_before(world);
	world->listeners[0].stopped_boot_ns = 240 * SECOND;
}
static void many_dues(struct world *world) { world->dues = 32; }
static void nearly_many_dues(struct world *world) { world->dues = 31; }
static void child_of_other_user(struct world *world) { world->processes[world_add(world, SERVER, "helper")].uid = 0; }
static void child_of_same_user(struct world *world) { world_add(world, SERVER, "helper"); }
static void child_protected(struct world *world) { world_add(world, SERVER, "sh -c x > postgres -D /x"); }
static void child_shell(struct world *world) { world_add(world, SERVER, "%bash"); }
static void child_shell_command(struct world *world) { world_add(world, SERVER, "%bash -c x"); }
static void child_agent(struct world *world) { world_add(world, SERVER, "codex"); }
static void child_keeps(struct world *world) { ENVIRONMENT(&world->processes[world_add(world, SERVER, "helper")], "LISTENREAP_KEEP=1"); }
static void child_listens(struct world *world) { world_listen(world, world_add(world, SERVER, "helper"), 8001, 10); }
static void child_listens_due(struct world *world) { world_listen(world, world_add(world, SERVER, "python3 -m http.server"), 8001, 10); }
static void child_listens_owned(struct world *world) { world_listen(world, world_add(world, SERVER, "node /x/node_modules/.bin/vite"), 8001, 10); }
static void child_listens_young(struct world *world) { world_listen(world, world_add(world, SERVER, "python3 -m http.server"), 8001, 900); }
static void listens_twice_one_in_use(struct world *world)
{
	world_listen(world, SERVER, 8001, 10);
	connect_client(world, SERVER, NONE, 8001);
}
static void passed_to_a_stranger(struct world *world)
{
	int stranger = world_add(world, 0, "player movie");
	struct listener *listener = &world->listeners[0];

	world->processes[stranger].first_held = world->holder_count;
	world->holders[world->holder_count++] = (struct holder){ stranger, 0, NONE };
	listener->holder_count++;
}

static const struct {
	const char *sentence, *births;
	void (*change)(struct world *);
	enum verdict_kind verdict;
	enum reason reason;
} rows[] = {
	{ "an orphan, old, nobody uses it: reaped", LEAK, as_it_is, VERDICT_REAP, REASON_DUE },

	{ "nobody holds it any more", LEAK, all_holders_ended, VERDICT_SPARE, REASON_NO_HOLDER },
	{ "no record of its listen()", LEAK, no_record_of_listen, VERDICT_SPARE, REASON_UNREADABLE },
	{ "it listens since tomorrow", LEAK, opened_in_the_future, VERDICT_SPARE, REASON_UNREADABLE },

	{ "pid 1 of a pid namespace", LEAK, is_init_of_a_namespace, VERDICT_SPARE, REASON_FLOOR },
	{ "an ancestor of ours", LEAK, runs_listenreap, VERDICT_SPARE, REASON_FLOOR },
	{ "pid 1 itself", "init *", as_it_is, VERDICT_SPARE, REASON_FLOOR },
	{ "an agent that listens", "init > codex *", as_it_is, VERDICT_SPARE, REASON_FLOOR },
	{ "a person's", "init > tmux *", as_it_is, VERDICT_SPARE, REASON_FLOOR },
	{ "a container shim", "init > containerd-shim-runc-v2 *", as_it_is, VERDICT_SPARE, REASON_FLOOR },

	{ "no rule", "init > claude !100 > server.bin *", as_it_is, VERDICT_SPARE, REASON_NO_RULE },
	{ "the words elsewhere in argv", "init > claude !100 > tail -F http.server *", as_it_is, VERDICT_SPARE, REASON_NO_RULE },
	{ "the words as a script's arguments", "init > claude !100 > python3 notes.py -m http.server *", as_it_is, VERDICT_SPARE, REASON_NO_RULE },
	{ "another program holds it too", LEAK, passed_to_a_stranger, VERDICT_SPARE, REASON_FOREIGN_HOLDER },

	{ "a marker in its environment", LEAK, keeps_marker, VERDICT_SPARE, REASON_OPT_OUT },
	{ "an empty marker", LEAK, keeps_empty_marker, VERDICT_SPARE, REASON_OPT_OUT },
	{ "a misspelt one", LEAK, keeps_misspelt_marker, VERDICT_REAP, REASON_DUE },
	{ "BUILD_ID=dontKillMe", LEAK, build_id, VERDICT_SPARE, REASON_OPT_OUT },
	{ "BUILD_ID of a build", LEAK, build_id_of_jenkins, VERDICT_REAP, REASON_DUE },
	{ "JENKINS_NODE_COOKIE=dontKillMe", LEAK, node_cookie, VERDICT_SPARE, REASON_OPT_OUT },
	{ "RUNNER_TRACKING_ID empty", LEAK, tracking_id_empty, VERDICT_SPARE, REASON_OPT_OUT },
	{ "RUNNER_TRACKING_ID set", LEAK, tracking_id_set, VERDICT_REAP, REASON_DUE },
	{ "an environment that cannot be read", LEAK, environment_hidden, VERDICT_SPARE, REASON_UNREADABLE },
	{ "kept by hand", LEAK, kept_by_hand, VERDICT_SPARE, REASON_OPT_OUT },
	{ "a marker in a child's environment", LEAK, child_keeps, VERDICT_SPARE, REASON_OPT_OUT },

	{ "real and effective user differ", LEAK, mixed_user, VERDICT_SPARE, REASON_OTHER_USER },
	{ "its user cannot be read", LEAK, details_hidden, VERDICT_SPARE, REASON_UNREADABLE },
	{ "another network namespace", LEAK, other_netns, VERDICT_SPARE, REASON_NAMESPACE },
	{ "its holder in another network namespace", LEAK, other_netns_of_holder, VERDICT_SPARE, REASON_NAMESPACE },
	{ "another pid namespace", LEAK, other_pidns, VERDICT_SPARE, REASON_NAMESPACE },
	{ "a pid namespace that cannot be read", LEAK, pidns_hidden, VERDICT_SPARE, REASON_UNREADABLE },
	{ "a container's cgroup", LEAK, in_docker, VERDICT_SPARE, REASON_NAMESPACE },
	{ "a cgroup that cannot be read", LEAK, cgroup_hidden, VERDICT_SPARE, REASON_UNREADABLE },
	{ "a unit's own", "init > python3 -m http.server *", in_service, VERDICT_SPARE, REASON_SERVICE },
	{ "an agent's leak in a unit's cgroup", LEAK, in_service, VERDICT_REAP, REASON_DUE },
	{ "a leak of cron's in cron's cgroup", "init > cron > bash tick.sh +90 !100 > python3 -m http.server *", in_service, VERDICT_REAP, REASON_DUE },

	{ "its agent lives", LEAK, agent_lives, VERDICT_SPARE, REASON_ANCHOR_ALIVE },
	{ "an operator's own", "init > %bash !100 > nohup x !90 > python3 -m http.server *", as_it_is, VERDICT_SPARE, REASON_OPERATOR },
	{ "a job of pid 1", "init > tool !100 > python3 -m http.server *", as_it_is, VERDICT_SPARE, REASON_DAEMON },
	{ "born before tracking", "init > ?python3 -m http.server *", as_it_is, VERDICT_SPARE, REASON_LINEAGE_UNKNOWN },

	{ "another user's child", LEAK, child_of_other_user, VERDICT_SPARE, REASON_OTHER_USER },
	{ "the same user's", LEAK, child_of_same_user, VERDICT_REAP, REASON_DUE },
	{ "a protected descendant", LEAK, child_protected, VERDICT_SPARE, REASON_PROTECTED },
	{ "an interactive shell below it", LEAK, child_shell, VERDICT_SPARE, REASON_PROTECTED },
	{ "a shell with a command below it", LEAK, child_shell_command, VERDICT_REAP, REASON_DUE },
	{ "an agent below it", LEAK, child_agent, VERDICT_SPARE, REASON_PROTECTED },
	{ "a child that holds what is not due", LEAK, child_listens, VERDICT_SPARE, REASON_PROTECTED },
	{ "a child that holds what is due", LEAK, child_listens_due, VERDICT_REAP, REASON_DUE },
	{ "a child of another rule, which the server itself owns", LEAK, child_listens_owned, VERDICT_SPARE, REASON_PROTECTED },
	{ "a child that holds what only waits", LEAK, child_listens_young, VERDICT_WAIT, REASON_YOUNG },
	{ "its other listener is in use", LEAK, listens_twice_one_in_use, VERDICT_SPARE, REASON_PROTECTED },

	{ "F3: 299 s old", LEAK, opened_just_now, VERDICT_WAIT, REASON_YOUNG },
	{ "F3: 300 s old", LEAK, opened_in_time, VERDICT_REAP, REASON_DUE },
	{ "F3: orphaned for 299 s", LEAK, agent_just_ended, VERDICT_WAIT, REASON_RECENTLY_ORPHANED },
	{ "F3: orphaned for 300 s", LEAK, agent_ended_in_time, VERDICT_REAP, REASON_DUE },

	{ "a local client outside", LEAK, client_outside, VERDICT_SPARE, REASON_IN_USE },
	{ "a remote client", LEAK, client_remote, VERDICT_SPARE, REASON_IN_USE },
	{ "a client of the tree itself", LEAK, client_in_tree, VERDICT_REAP, REASON_DUE },
	{ "a connection to another port", LEAK, client_of_other_port, VERDICT_REAP, REASON_DUE },
	{ "a connection that a stranger serves", LEAK, client_of_a_stranger, VERDICT_REAP, REASON_DUE },
	{ "a client that waits in its queue", LEAK, client_queued, VERDICT_SPARE, REASON_IN_USE },
	{ "one that waits in its twin's", LEAK, client_queued_elsewhere, VERDICT_REAP, REASON_DUE },
	{ "a leftover of the same agent", LEAK, client_leftover, VERDICT_REAP, REASON_DUE },
	{ "a leftover of another agent", LEAK, client_leftover_of_another, VERDICT_SPARE, REASON_IN_USE },
	{ "a client that just left", LEAK, time_wait, VERDICT_SPARE, REASON_IN_USE },
	{ "one that left another namespace's", LEAK, time_wait_elsewhere, VERDICT_REAP, REASON_DUE },
	{ "connections cannot be looked at", LEAK, connections_hidden, VERDICT_SPARE, REASON_IN_USE },

	{ "back 50 s after we stopped it", LEAK, stopped_before, VERDICT_SPARE, REASON_RESPAWNED },
	{ "back 60 s after, below an agent", LEAK, stopped_long_before, VERDICT_REAP, REASON_DUE },
	{ "back 60 s after, below cron", "init > cron > bash tick.sh +90 !100 > python3 -m http.server *", stopped_long_before, VERDICT_SPARE, REASON_RESPAWNED },
	{ "the rule only reports", "init > claude !100 > lr-reported x *", as_it_is, VERDICT_SPARE, REASON_REPORT_ONLY },
	{ "the 33rd tree", LEAK, many_dues, VERDICT_WAIT, REASON_LIMIT },
	{ "the 32nd", LEAK, nearly_many_dues, VERDICT_REAP, REASON_DUE },

	/* First match decides: two facts, the earlier step's reason. */
	{ "a marker before a live agent", "init > claude > python3 -m http.server *", keeps_marker, VERDICT_SPARE, REASON_OPT_OUT },
	{ "another namespace before a live agent", "init > claude > python3 -m http.server *", other_netns, VERDICT_SPARE, REASON_NAMESPACE },
	{ "a live agent before youth", "init > claude > python3 -m http.server *", opened_just_now, VERDICT_SPARE, REASON_ANCHOR_ALIVE },
	{ "no rule before a marker", "init > claude !100 > server.bin *", keeps_marker, VERDICT_SPARE, REASON_NO_RULE },
};

Test(policy, each_reason_and_its_twin)
{
	const struct ruleset *ruleset = world_ruleset(NULL);
	bool is_met[REASON_MAX] = { false };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world *world = world_make(rows[i].births);
		struct judged_world judged;

		rows[i].change(world);
		judged = world_judge(world, ruleset, NOW, 0);
		cr_expect_eq(judged.need, NEED_NOTHING, "%s: it asks for fact %d", rows[i].sentence, judged.need);
		cr_expect(judged.verdict.kind == rows[i].verdict && judged.verdict.reason == rows[i].reason, "%s: %s %s, not %s %s", rows[i].sentence,
			  verdict_names[judged.verdict.kind], reason_names[judged.verdict.reason], verdict_names[rows[i].verdict],
			  reason_names[rows[i].reason]);
		is_met[judged.verdict.reason] = true;
		world_free(world);
	}
	for (int reason = 0; reason < REASON_MAX; reason++)
		cr_expect(is_met[reason], "no row ends with %s", reason_names[reason]);
}

/* What is not known yet is asked for, one fact at a time; what cannot be read spares. */
Test(policy, asks_for_what_it_lacks)
{
	const struct ruleset *ruleset = world_ruleset(NULL);
	struct world *world = world_make(LEAK);
	struct process *server = &world->processes[SERVER];

	server->argv.is_cut = true;
	server->argv.length = 12;
	server->cmdline = FACT_NOT_ASKED;
	program_identify(server->exe, server->comm, &server->argv, &server->program);
	cr_expect_eq(world_judge(world, ruleset, NOW, 0).need, NEED_CMDLINE);
	server->cmdline = FACT_UNREADABLE;
	cr_expect_eq(world_judge(world, ruleset, NOW, 0).verdict.reason, REASON_UNREADABLE);
	world_free(world);

	world = world_make(LEAK);
	world->processes[SERVER].environ = FACT_NOT_ASKED;
	cr_expect_eq(world_judge(world, ruleset, NOW, 0).need, NEED_ENVIRON);
	world_free(world);

	world = world_make(LEAK);
	world->processes[SERVER].details = FACT_NOT_ASKED;
	cr_expect_eq(world_judge(world, ruleset, NOW, 0).need, NEED_DETAILS);
	world_free(world);

	world = world_make(LEAK);
	world->process_table = FACT_NOT_ASKED;
	cr_expect_eq(world_judge(world, ruleset, NOW, 0).need, NEED_PROCESSES);
	world_free(world);

	world = world_make(LEAK);
	world->connection_table = FACT_NOT_ASKED;
	cr_expect_eq(world_judge(world, ruleset, NOW, 0).need, NEED_CONNECTIONS);
	world_free(world);

	world = world_make(LEAK);
	world->listeners[0].stop = FACT_NOT_ASKED;
	cr_expect_eq(world_judge(world, ruleset, NOW, 0).need, NEED_STOP);
	world_free(world);
}

/* Nothing of /proc is asked for a listener that no rule names. */
Test(policy, asks_nothing_without_a_rule)
{
	struct world *world = world_make("init > claude !100 > server.bin *");
	struct judged_world judged;

	world->processes[SERVER].details = world->processes[SERVER].environ = world->processes[SERVER].cmdline = FACT_NOT_ASKED;
	world->process_table = world->connection_table = FACT_NOT_ASKED;
	judged = world_judge(world, world_ruleset(NULL), NOW, 0);
	cr_expect_eq(judged.need, NEED_NOTHING);
	cr_expect_eq(judged.verdict.reason, REASON_NO_RULE);
	world_free(world);
}

static const struct {
	const char *sentence, *births;
	void (*change)(struct world *);
	const char *tree;		/* executables, eldest first */
} trees[] = {
	{ "the holder alone", LEAK, as_it_is, "python3" },
	{ "wrappers with nothing else to run", "init > claude !100 > npm run dev > sh -c x > python3 -m http.server *", as_it_is, "npm sh python3" },
	{ "a wrapper that runs something else stays", "init > claude !100 > npm run dev > sh -c x > python3 -m http.server *", child_of_same_user,
	  "npm sh python3 helper" },
	{ "a script that lives, and its server", "init > claude !100 > bash run.sh > python3 -m http.server *", as_it_is, "bash python3" },
	{ "a reloader's live parent", "init > claude !100 > python3 -m http.server > python3 -m http.server *", as_it_is, "python3 python3" },
	{ "an ended one in between is no bar", "init > claude !100 > npm run dev > sh -c x !50 > python3 -m http.server *", as_it_is, "python3" },
	{ "children of all", LEAK, child_of_same_user, "python3 helper" },
	{ "never above the anchor", "init > npm start > claude !100 > sh -c x > python3 -m http.server *", as_it_is, "sh python3" },
};

Test(policy, who_dies)
{
	const struct ruleset *ruleset = world_ruleset(NULL);

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		struct world *world = world_make(trees[i].births);
		struct judged_world judged;
		char names[256] = "";

		trees[i].change(world);
		judged = world_judge(world, ruleset, NOW, 0);
		for (int j = 0; j < judged.tree_count; j++)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", j ? " " : "", world->processes[judged.tree[j]].exe);
		cr_expect_eq(judged.verdict.kind, VERDICT_REAP, "%s: %s", trees[i].sentence, reason_names[judged.verdict.reason]);
		cr_expect_str_eq(names, trees[i].tree, "%s", trees[i].sentence);
		world_free(world);
	}
}

/* A script that runs a due server beside something else: the server goes, the script and the other stay. */
Test(policy, a_script_with_other_work_stays)
{
	struct world *world = world_make("init > claude !100 > bash run.sh > python3 -m http.server *");
	struct judged_world judged;

	world_add(world, world_find(world, "bash"), "sleep 600");
	judged = world_judge(world, world_ruleset(NULL), NOW, 0);
	cr_expect_eq(judged.verdict.kind, VERDICT_REAP);
	cr_expect_eq(judged.tree_count, 1);
	cr_expect_eq(judged.tree[0], SERVER);
	world_free(world);
}

/* Two due servers under one script: each tree takes the script, and they are one to max-reaps. */
Test(policy, two_due_servers_of_one_script)
{
	struct world *world = world_make("init > claude !100 > bash run.sh > python3 -m http.server *");
	int vite = world_add(world, world_find(world, "bash"), "node /x/node_modules/.bin/vite"), other = world_listen(world, vite, 8001, 10);
	const struct ruleset *ruleset = world_ruleset(NULL);
	struct judged_world first = world_judge(world, ruleset, NOW, 0), second;

	cr_expect_eq(first.verdict.kind, VERDICT_REAP);
	cr_expect_eq(first.tree_count, 2);
	policy_count_due(world, first.tree, first.tree_count);
	second = world_judge(world, ruleset, NOW, other);
	cr_expect_eq(second.verdict.kind, VERDICT_REAP);
	cr_expect_eq(second.tree_count, 2);
	policy_count_due(world, second.tree, second.tree_count);
	cr_expect_eq(world->dues, 1);
	world_free(world);
}

Test(policy, rules_may_ask_for_less)
{
	static const struct {
		const char *sentence, *more, *births;
		enum reason reason;
	} less[] = {
		{ "orphan = any does not ask", "[rule any]\nprogram = lr-any\norphan = any\n", "init > claude > lr-any *", REASON_DUE },
		{ "orphan = parent: it has ended", "[rule parent]\nprogram = lr-any\norphan = parent\n", "init > claude > tool !100 > lr-any *", REASON_DUE },
		{ "orphan = parent: it lives", "[rule parent]\nprogram = lr-any\norphan = parent\n", "init > claude !100 > tool > lr-any *", REASON_ANCHOR_ALIVE },
		{ "operator = reap", "[rule mine]\nprogram = lr-any\noperator = reap\n", "init > %bash !100 > lr-any *", REASON_DUE },
		{ "user: another", "[rule user]\nprogram = lr-any\nuser = 4711\n", "init > claude !100 > lr-any *", REASON_OTHER_USER },
		{ "user: this one", "[rule user]\nprogram = lr-any\nuser = 1000\n", "init > claude !100 > lr-any *", REASON_DUE },
		{ "port: another", "[rule port]\nprogram = lr-any\nport = 9000-9999\n", "init > claude !100 > lr-any *", REASON_NO_RULE },
		{ "port: this one", "[rule port]\nprogram = lr-any\nport = 8000\n", "init > claude !100 > lr-any *", REASON_DUE },
		{ "scope: another", "[rule scope]\nprogram = lr-any\nscope = exposed\n", "init > claude !100 > lr-any *", REASON_NO_RULE },
		{ "born-of: not", "[rule born]\nprogram = lr-any\nborn-of = codex\n", "init > claude !100 > lr-any *", REASON_NO_RULE },
		{ "born-of", "[rule born]\nprogram = lr-any\nborn-of = claude\n", "init > claude !100 > lr-any *", REASON_DUE },
		{ "anchor: another kind", "[rule anchor]\nprogram = lr-any\nanchor = person\n", "init > claude !100 > lr-any *", REASON_NO_RULE },
		{ "anchor: this kind", "[rule anchor]\nprogram = lr-any\nanchor = agent\n", "init > claude !100 > lr-any *", REASON_DUE },
		{ "env: not", "[rule env]\nprogram = lr-any\nenv = CI=1\n", "init > claude !100 > lr-any *", REASON_NO_RULE },
	};

	for (size_t i = 0; i < sizeof(less) / sizeof(less[0]); i++) {
		struct world *world = world_make(less[i].births);
		struct judged_world judged = world_judge(world, world_ruleset(less[i].more), NOW, 0);

		cr_expect_eq(judged.verdict.reason, less[i].reason, "%s: %s", less[i].sentence, reason_names[judged.verdict.reason]);
		world_free(world);
	}
}

/* A rule that asks only where a process comes from names no server: another program that it fits too is still a stranger. */
Test(policy, a_rule_of_surroundings_alone_names_no_twin)
{
	const struct ruleset *ruleset = world_ruleset("[rule left]\nborn-of = claude\naction = report\n");
	struct world *world = world_make(LEAK);
	int stranger = world_add(world, world_find(world, "claude"), "player movie");

	world->processes[stranger].first_held = world->holder_count;
	world->holders[world->holder_count++] = (struct holder){ stranger, 0, NONE };
	world->listeners[0].holder_count++;
	cr_expect_eq(world_judge(world, ruleset, NOW, 0).verdict.reason, REASON_FOREIGN_HOLDER);
	world_free(world);
}

Test(policy, earliest_due_is_the_shortest_of_the_rules_that_kill)
{
	const struct ruleset *ruleset = world_ruleset("[rule quick]\nprogram = q\nport = 8000\nstale-after = 7s\n[rule slow]\nprogram = s\naction = report\nstale-after = 1s\n");
	struct world *world = world_make(LEAK);

	cr_expect_eq(policy_earliest_due(ruleset, &world->listeners[0]), 17 * SECOND);
	world->listeners[0].port = 8001;
	cr_expect_eq(policy_earliest_due(ruleset, &world->listeners[0]), 310 * SECOND);
	world_free(world);
}
