/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * The order of judgement (design.md): first match decides. One pure function of facts, rules and now. What it lacks
 * it names instead of guessing: the caller gathers that and asks again. Anything unknown spares.
 */
#include "duration.h"
#include "lineage.h"

enum verdict_kind { VERDICT_SPARE, VERDICT_WAIT, VERDICT_REAP, VERDICT_MAX };
extern const char *const verdict_names[VERDICT_MAX];	/* "spare" "wait" "reap" */

enum reason {
	REASON_DUE, REASON_YOUNG, REASON_RECENTLY_ORPHANED, REASON_ANCHOR_ALIVE, REASON_LINEAGE_UNKNOWN, REASON_OPERATOR,
	REASON_DAEMON, REASON_NO_RULE, REASON_REPORT_ONLY, REASON_PROTECTED, REASON_FLOOR, REASON_OPT_OUT, REASON_IN_USE,
	REASON_OTHER_USER, REASON_NAMESPACE, REASON_SERVICE, REASON_NO_HOLDER, REASON_UNREADABLE, REASON_FOREIGN_HOLDER,
	REASON_RESPAWNED, REASON_LIMIT,
	REASON_MAX
};
extern const char *const reason_names[REASON_MAX];	/* as in contract.md: "due", "young", ... */

enum orphan { ORPHAN_NO, ORPHAN_YES, ORPHAN_UNKNOWN, ORPHAN_MAX };
extern const char *const orphan_names[ORPHAN_MAX];	/* "no" "yes" "unknown" */

struct verdict {
	enum verdict_kind kind;
	enum reason reason;
	int rule;			/* NONE */
	int culprit;			/* the process that decided: holder, descendant, ...; NONE */
	int other;			/* the listener that decided (protected: not due), NONE */
	const char *what;		/* which marker, protection, cgroup, unreadable fact: a static or world-owned string; NULL */
	int decider;			/* the holder whose walk decides: one that must live saves all; NONE */
	struct walk walk;		/* of that holder */
	enum orphan orphan;
	bool has_orphaned;
	uint64_t orphaned_boot_ns;	/* later of the walk's and opened */
	bool has_due;
	uint64_t due_boot_ns;		/* wait */
	int connections;		/* that count as in use; NONE not looked */
	bool is_recent_use;		/* in-use by a TIME_WAIT only */
};

enum need_kind {
	NEED_NOTHING,
	NEED_DETAILS,		/* of .process */
	NEED_ENVIRON,		/* of .process */
	NEED_CMDLINE,		/* of .process */
	NEED_PROCESSES,		/* world.process_table */
	NEED_CONNECTIONS,	/* world.connection_table */
	NEED_STOP,		/* of .listener, for .rule */
};
struct need {
	enum need_kind kind;
	int process;
	int listener;
	int rule;
};

/* Which steps decided or passed, for explain; in the order of judgement. */
enum step {
	STEP_HOLDER, STEP_FLOOR, STEP_RULE, STEP_OPT_OUT, STEP_USER, STEP_NAMESPACE, STEP_SERVICE, STEP_LINEAGE, STEP_TREE,
	STEP_AGE, STEP_USE, STEP_RESPAWN, STEP_ACTION, STEP_LIMIT, STEP_MAX
};
extern const char *const step_names[STEP_MAX];

struct policy_request {
	struct world *world;		/* only memo fields are written */
	const struct ruleset *ruleset;
	uint64_t now_boot_ns;
	int listener;
	int *tree;			/* room for world->process_count indices; the tree that would be signalled, eldest first */
	int *spare_tree;		/* the same room again, for the trees of other listeners */
};

/*
 * NEED_NOTHING: *ret is the verdict, *ret_step the step that decided, request->tree[0 .. *ret_tree_count) the tree (0 when no rule or
 * not that far). Anything else: gather it and call again; outputs are then undefined. A FACT_UNREADABLE is never asked for twice.
 */
struct need policy_judge(const struct policy_request *request, struct verdict *ret, enum step *ret_step, int *ret_tree_count);

/* Tells the judge that this tree is going to be reaped in this sweep: it counts towards max-reaps, once for all its listeners. */
void policy_count_due(struct world *world, const int *tree, int tree_count);

/* The earliest time at which this listener could become due whatever else is true: opened + the smallest stale-after of any rule that
   may kill. A sweep need not judge it before. UINT64_MAX: never. */
uint64_t policy_earliest_due(const struct ruleset *ruleset, const struct listener *listener);
