/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * Who would be signalled for one listener (design.md, "What dies"): its holders; above each the live same-rule ancestors below the
 * anchor; the live wrappers and scripts there that still run one of these and whose every other live child is doomed too; and the present children of all these.
 * Never upward past the anchor, never a process group or session. Pure.
 */
#include "policy.h"

struct tree {
	int *members;		/* caller's, room for world->process_count; eldest first once tree_sort() ran */
	int count;
	uint32_t mark;		/* world.processes[i].memo.mark == mark: a member */
};

/* Starts an empty tree. */
void tree_start(struct world *world, int *members, struct tree *ret);
bool tree_has(const struct world *world, const struct tree *tree, int process);
/* Holders, their live same-rule ancestors up to their walk's anchor, and the present children of these. Asks for the process table first. */
struct need tree_add_core(struct world *world, const struct ruleset *ruleset, int listener, int rule, struct tree *tree);
/*
 * Wrappers and scripts below the anchor. is_due: is that listener, judged alone, due? It may need facts: *ret_need.
 */
typedef bool tree_is_due(void *arg, int listener, struct need *ret_need);
struct need tree_add_wrappers(struct world *world, const struct ruleset *ruleset, int listener, int rule,
			      struct tree *tree, tree_is_due *is_due, void *arg);
/* Eldest first: by start, so that a supervisor ends before the leaf that it would restart. */
void tree_sort(const struct world *world, struct tree *tree);
