/* SPDX-License-Identifier: GPL-2.0-only */
/* The walk to the anchor: every row of the design's table, alive and ended. */
#include <criterion/criterion.h>
#include "world.h"

static const char *const lineages[LINEAGE_MAX] = { "owned", "orphan", "operator", "daemon", "unknown" };

struct walk_row {
	const char *sentence, *births;
	enum lineage lineage;
	const char *anchor;		/* executable; NULL none */
	uint64_t orphaned_s;		/* 0 not asked */
};

static const struct walk_row rows[] = {
	{ "nobody recorded above: unknown", "python3 -m http.server *", LINEAGE_UNKNOWN, NULL, 0 },
	{ "an ended stranger and nobody above: unknown", "make-it !50 > python3 -m http.server *", LINEAGE_UNKNOWN, NULL, 0 },

	{ "a live agent owns it", "init > claude > python3 -m http.server *", LINEAGE_OWNED, "claude", 0 },
	{ "an ended agent leaves an orphan", "init > claude !100 > python3 -m http.server *", LINEAGE_ORPHAN, "claude", 100 },
	{ "what died in between plays no part", "init > claude > bash -c x !5 > npm run dev !6 > sh -c vite !7 > python3 -m http.server *", LINEAGE_OWNED, "claude", 0 },
	{ "a wrapper that lives on does not own", "init > claude !100 > npm run dev > sh -c x > python3 -m http.server *", LINEAGE_ORPHAN, "claude", 100 },
	{ "a sub-agent that ended below a live agent is skipped", "init > claude > codex !100 > python3 -m http.server *", LINEAGE_OWNED, "claude", 0 },
	{ "a sub-agent of an agent that ended later: orphaned by the later end", "init > claude !200 > codex !100 > python3 -m http.server *", LINEAGE_ORPHAN, "codex", 200 },
	{ "a tool that outlived its agent: orphaned by the tool's end", "init > claude !100 > runner !300 > python3 -m http.server *", LINEAGE_ORPHAN, "claude", 300 },
	{ "a tool of an ended agent that still lives owns it", "init > claude !100 > runner > python3 -m http.server *", LINEAGE_OWNED, "runner", 0 },

	{ "a live person owns it", "init > tmux > python3 -m http.server *", LINEAGE_OWNED, "tmux", 0 },
	{ "a person that ended leaves an operator's own", "init > tmux !100 > python3 -m http.server *", LINEAGE_OPERATOR, "tmux", 100 },
	{ "an ended person below an agent is skipped", "init > claude !150 > tmux !100 > python3 -m http.server *", LINEAGE_ORPHAN, "claude", 150 },
	{ "an ended person below a live agent is skipped", "init > claude > tmux !100 > python3 -m http.server *", LINEAGE_OWNED, "claude", 0 },
	{ "a live person below an ended agent owns it", "init > claude !100 > tmux > python3 -m http.server *", LINEAGE_OWNED, "tmux", 0 },
	{ "an interactive shell on a terminal is a person", "init > %bash > python3 -m http.server *", LINEAGE_OWNED, "bash", 0 },
	{ "one that logged out leaves an operator's own", "init > %bash !100 > nohup x !90 > python3 -m http.server *", LINEAGE_OPERATOR, "bash", 100 },
	{ "a shell with -c is none, terminal or not", "init > claude !100 > %bash -c x > python3 -m http.server *", LINEAGE_ORPHAN, "claude", 100 },
	{ "a script on a terminal is none", "init > %bash > %bash dev.sh !90 > python3 -m http.server *", LINEAGE_OWNED, "bash", 0 },
	{ "a login shell is one", "init > %-bash !100 > python3 -m http.server *", LINEAGE_OPERATOR, "bash", 100 },

	{ "a live supervisor owns it", "init > pm2 > python3 -m http.server *", LINEAGE_OWNED, "pm2", 0 },
	{ "an ended supervisor leaves an operator's own", "init > pm2 !100 > python3 -m http.server *", LINEAGE_OPERATOR, "pm2", 100 },

	{ "born directly of a manager: its job is the server", "init > cron > python3 -m http.server +900 *", LINEAGE_OWNED, "cron", 0 },
	{ "born directly of a manager that ended", "init > cron !950 > python3 -m http.server +900 *", LINEAGE_OWNED, "cron", 0 },
	{ "cron's job still runs", "init > cron > bash tick.sh +900 > python3 -m http.server +901 *", LINEAGE_OWNED, "cron", 0 },
	{ "cron's job has ended", "init > cron > bash tick.sh +900 !950 > python3 -m http.server +901 *", LINEAGE_ORPHAN, "bash", 950 },
	{ "cron's own child never called exec and is cron", "init > cron > ~cron +899 !951 > bash tick.sh +900 !950 > python3 -m http.server +901 *", LINEAGE_ORPHAN, "bash", 950 },
	{ "nothing but wrappers, one alive", "init > cron > sh -c x +900 !950 > npm run dev +901 > python3 -m http.server +902 *", LINEAGE_OWNED, "cron", 0 },
	{ "nothing but wrappers, all ended", "init > cron > sh -c x +900 !950 > npm run dev +901 !960 > python3 -m http.server +902 *", LINEAGE_ORPHAN, "npm", 960 },
	{ "a live wrapper below an ended program", "init > cron > tool +900 !950 > npm run dev +901 > python3 -m http.server +902 *", LINEAGE_ORPHAN, "tool", 950 },
	{ "a daemon that detached itself", "init > cron > lr-daemon +900 !901 > lr-daemon +902 *", LINEAGE_DAEMON, "cron", 0 },
	{ "a daemon that a wrapper started", "init > cron > sh -c x +899 !900 > lr-daemon +900 !901 > lr-daemon +902 *", LINEAGE_DAEMON, "cron", 0 },
	{ "the same below a script of another program", "init > cron > bash tick.sh +899 !950 > lr-daemon +900 !901 > lr-daemon +902 *", LINEAGE_ORPHAN, "bash", 950 },
	{ "a job of pid 1", "init > tool +900 !950 > python3 -m http.server +901 *", LINEAGE_DAEMON, "init", 0 },
	{ "a job born 59 s after its manager is a boot job", "init > cron +100 > tool +159 !950 > python3 -m http.server +901 *", LINEAGE_DAEMON, "cron", 0 },
	{ "one born 60 s after is none", "init > cron +100 > tool +160 !950 > python3 -m http.server +901 *", LINEAGE_ORPHAN, "tool", 950 },
	{ "a manager that anybody can write to is any program", "init > claude !100 > $cron > tool +900 !950 > python3 -m http.server +901 *", LINEAGE_OWNED, "cron", 0 },
	{ "an agent below a manager answers first", "init > gitlab-runner > claude +900 !950 > python3 -m http.server +901 *", LINEAGE_ORPHAN, "claude", 950 },
	{ "a live same-rule parent is the server: its job runs", "init > cron > python3 -m http.server +900 > python3 -m http.server +901 *", LINEAGE_DAEMON, "cron", 0 },
	{ "the same with another program of the rule in between", "init > cron > node /x/node_modules/.bin/vite +900 > node /y/vite +901 *", LINEAGE_OWNED, "cron", 0 },
	{ "and with its job ended above", "init > cron > bash tick.sh +899 !950 > node /x/node_modules/.bin/vite +900 > node /y/vite +901 *", LINEAGE_ORPHAN, "bash", 950 },

	{ "the same rule's parent is skipped alive", "init > claude !100 > python3 -m http.server > python3 -m http.server *", LINEAGE_ORPHAN, "claude", 100 },
	{ "the same rule's parent is skipped ended", "init > claude > python3 -m http.server !50 > python3 -m http.server *", LINEAGE_OWNED, "claude", 0 },
	{ "any other program that lives owns it", "init > ide-helper > python3 -m http.server *", LINEAGE_OWNED, "ide-helper", 0 },

	{ "a subshell that ended is one with its script", "init > %bash > bash dev.sh > ~bash dev.sh !50 > python3 -m http.server *", LINEAGE_OWNED, "bash", 0 },
	{ "an agent's fork that never called exec keeps it alive", "init > claude !100 > ~claude > python3 -m http.server *", LINEAGE_OWNED, "claude", 0 },
	{ "the middle of a double fork is nobody", "init > claude !100 > ~claude !50 > python3 -m http.server *", LINEAGE_ORPHAN, "claude", 100 },

	{ "not witnessed: a live agent counts", "init > ?claude > ?python3 -m http.server *", LINEAGE_OWNED, "claude", 0 },
	{ "not witnessed: an end seen later counts", "init > ?claude !100 > ?python3 -m http.server *", LINEAGE_ORPHAN, "claude", 100 },
	{ "not witnessed under a manager: adoption looks the same", "init > ?python3 -m http.server *", LINEAGE_UNKNOWN, NULL, 0 },
	{ "a witnessed child of one that was not", "init > ?tool !100 > python3 -m http.server *", LINEAGE_UNKNOWN, NULL, 0 },
};

Test(lineage, each_row_of_the_table)
{
	const struct ruleset *ruleset = world_ruleset(NULL);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct walk_row *row = &rows[i];
		struct world *world = world_make(row->births);
		int holder = world->holders[0].process;
		int rule = world->processes[holder].program.interpreter == INTERPRETER_PYTHON ? 0 :
			   world->processes[holder].program.interpreter == INTERPRETER_NODE ? 1 : NONE;
		struct walk walk;

		lineage_walk(world, ruleset, holder, rule, &walk, NULL, 0, NULL);
		cr_expect_eq(walk.lineage, row->lineage, "%s: %s, not %s", row->sentence, lineages[walk.lineage], lineages[row->lineage]);
		if (row->anchor)
			cr_expect(walk.anchor != NONE && strcmp(world->processes[walk.anchor].exe, row->anchor) == 0, "%s: the anchor is %s, not %s",
				  row->sentence, walk.anchor == NONE ? "nobody" : world->processes[walk.anchor].exe, row->anchor);
		else
			cr_expect_eq(walk.anchor, NONE, "%s: there is an anchor", row->sentence);
		if (row->orphaned_s)
			cr_expect_eq(walk.orphaned_boot_ns, row->orphaned_s * SECOND, "%s: orphaned at %llu s, not %llu", row->sentence,
				     (unsigned long long)(walk.orphaned_boot_ns / SECOND), (unsigned long long)row->orphaned_s);
		world_free(world);
	}
}

Test(lineage, orphan_parent_asks_the_nearest_real_ancestor)
{
	static const struct walk_row parents[] = {
		{ "it lives", "init > claude > tool > python3 -m http.server *", LINEAGE_OWNED, "tool", 0 },
		{ "it has ended though the agent lives", "init > claude > tool !50 > python3 -m http.server *", LINEAGE_ORPHAN, "tool", 50 },
		{ "wrappers are looked through", "init > claude > tool !50 > npm run dev > sh -c x > python3 -m http.server *", LINEAGE_ORPHAN, "tool", 50 },
		{ "a live same-rule parent too", "init > claude > tool !50 > python3 -m http.server > python3 -m http.server *", LINEAGE_ORPHAN, "tool", 50 },
		{ "a person that ended is still an operator", "init > tmux !50 > python3 -m http.server *", LINEAGE_OPERATOR, "tmux", 50 },
		{ "not witnessed under a manager", "init > ?python3 -m http.server *", LINEAGE_UNKNOWN, NULL, 0 },
		{ "nobody recorded", "python3 -m http.server *", LINEAGE_UNKNOWN, NULL, 0 },
	};
	const struct ruleset *ruleset = world_ruleset(NULL);

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		struct world *world = world_make(parents[i].births);
		struct walk walk;

		lineage_walk_parent(world, ruleset, world->holders[0].process, 0, &walk);
		cr_expect_eq(walk.lineage, parents[i].lineage, "%s: %s", parents[i].sentence, lineages[walk.lineage]);
		if (parents[i].anchor && walk.anchor != NONE)
			cr_expect_str_eq(world->processes[walk.anchor].exe, parents[i].anchor, "%s", parents[i].sentence);
		world_free(world);
	}
}

Test(lineage, survives_births_that_cannot_be)
{
	struct world *world = world_make("claude !100 > tool !50 > python3 -m http.server *");
	const struct ruleset *ruleset = world_ruleset(NULL);
	struct walk walk;

	world->processes[0].birth_parent = 1;	/* a circle */
	world->processes[0].has_execed = world->processes[1].has_execed = false;
	lineage_walk(world, ruleset, 2, 0, &walk, NULL, 0, NULL);
	lineage_walk_parent(world, ruleset, 2, 0, &walk);
	cr_expect_not(lineage_descends_from(world, 0, 2));
	world->processes[0].birth_parent = 0;	/* its own parent */
	lineage_walk(world, ruleset, 2, 0, &walk, NULL, 0, NULL);
	world_free(world);
}
