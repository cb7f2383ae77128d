/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/* The walk from a holder up its birth ancestors to the anchor: the table of design.md, row by row. Pure. */
#include "rules.h"

enum lineage {
	LINEAGE_OWNED,		/* not an orphan: the anchor lives */
	LINEAGE_ORPHAN,
	LINEAGE_OPERATOR,	/* an operator's own: a person or supervisor that has ended */
	LINEAGE_DAEMON,
	LINEAGE_UNKNOWN,
	LINEAGE_MAX
};

struct walk {
	enum lineage lineage;
	int anchor;			/* process that answered; NONE for unknown */
	enum keeper anchor_kind;
	bool is_anchor_alive;
	int broke_at;			/* unknown: the process whose parent is not recorded (or not witnessed under a manager) */
	uint64_t orphaned_boot_ns;	/* orphan, operator: the last end without which the walk would not have said so */
	int depth;			/* ancestors looked at */
};

/* An ancestor as the walk sees it: a process that exec'd, and the never-exec'd ones between it and the child in question. */
struct ancestor {
	int nearest;			/* parent of the child in question */
	int elder;			/* the one that exec'd: its program decides; equals nearest mostly */
	bool is_alive;			/* any of them lives */
	bool had_tty;			/* a terminal, when it forked the child in question or now */
	bool is_witnessed_link;		/* the child's fork was seen */
	uint64_t end_boot_ns;		/* last end when none lives */
};
/* The next ancestor above child; false: not recorded. */
bool lineage_next(const struct world *world, int child, struct ancestor *ret);
/* rules_keeper_of(), remembered. */
enum keeper lineage_keeper(struct world *world, const struct ruleset *ruleset, int process, bool had_tty);
/* Does the rule name this process, or is it a multiprocessing child of one that it names? */
enum match lineage_fits_rule(const struct world *world, const struct rule *rule, int process);
/*
 * Is this ancestor (or other holder) the same server as that holder: named by the same rule, by program and argv? A rule that has no script, argv or
 * with names half the host: then it must be the same program too.
 */
bool lineage_is_same_server(const struct world *world, const struct rule *rule, int process, int holder);

/* One step of the walk, for explain. */
struct walk_step {
	int process;
	enum keeper kind;
	bool is_alive;			/* a never-exec'd ancestor is one with its forker */
	bool is_same_rule;
	bool is_answer;
};

/* steps may be NULL; at most max are written, *ret_steps says how many there were. */
void lineage_walk(struct world *world, const struct ruleset *ruleset, int process, int rule, struct walk *ret,
		  struct walk_step *steps, int max, int *ret_steps);

/* orphan = parent: the nearest ancestor that is neither wrapper nor a live same-rule one has ended. */
void lineage_walk_parent(struct world *world, const struct ruleset *ruleset, int process, int rule, struct walk *ret);

/* The one that the rule's `orphan` asks for; the whole walk for `any`, whose lineage is not asked but shown. */
void lineage_walk_for_rule(struct world *world, const struct ruleset *ruleset, int process, int rule, struct walk *ret);

/* Is there a birth ancestor of this kind / with such a program, alive or ended? */
bool lineage_has_keeper(struct world *world, const struct ruleset *ruleset, int process, enum keeper kind);
bool lineage_is_born_of(const struct world *world, int process, const struct globs *programs);
/* Was this process born from that one (or is it that one)? */
bool lineage_descends_from(const struct world *world, int process, int ancestor);
