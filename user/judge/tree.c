/* SPDX-License-Identifier: GPL-2.0-only */
#include "tree.h"

/* A wrapper's children are looked at this deep; a deeper tree keeps its wrapper. */
#define DOOM_DEPTH 32

void tree_start(struct world *world, int *members, struct tree *ret)
{
	*ret = (struct tree){ .members = members, .mark = ++world->memo_mark };
}

bool tree_has(const struct world *world, const struct tree *tree, int process)
{
	return world->processes[process].memo.mark == tree->mark;
}

static void add(struct world *world, struct tree *tree, int process)
{
	struct process *member = &world->processes[process];

	if (member->memo.mark == tree->mark || member->end_boot_ns != 0)
		return;
	member->memo.mark = tree->mark;
	tree->members[tree->count++] = process;
}

/* The present children, and theirs, of every member from index `from` on. */
static void add_children(struct world *world, struct tree *tree, int from)
{
	for (int i = from; i < tree->count; i++) {
		const struct process *parent = &world->processes[tree->members[i]];

		for (int child = parent->first_child; child != NONE; child = world->processes[child].next_sibling)
			add(world, tree, child);
	}
}

/* A way up from each holder: first for the rule's own ancestors, then for wrappers and scripts. */
struct climb {
	struct world *world;
	const struct ruleset *ruleset;
	int rule;
	struct tree *tree;
	bool wants_wrappers;
	tree_is_due *is_due;
	void *arg;
	struct need need;
};

static bool is_doomed(struct climb *climb, int process, int depth);

/*
 * At least one: a script that runs nothing of this tree any more may be busy with something else between two of its
 * commands, and is left alone.
 */
static bool children_are_doomed(struct climb *climb, int process, int depth)
{
	bool has_any = false;

	for (int child = climb->world->processes[process].first_child; child != NONE;
	     child = climb->world->processes[child].next_sibling) {
		if (climb->world->processes[child].end_boot_ns != 0)
			continue;
		if (!is_doomed(climb, child, depth + 1))
			return false;
		has_any = true;
	}
	return has_any;
}

/* Does it hold a listener that is due by itself? Then it and all below it goes. */
static bool holds_due_listener(struct climb *climb, int process)
{
	for (int held = climb->world->processes[process].first_held; held != NONE && climb->need.kind == NEED_NOTHING;
	     held = climb->world->holders[held].next_held)
		if (climb->is_due(climb->arg, climb->world->holders[held].listener, &climb->need))
			return true;
	return false;
}

static bool is_doomed(struct climb *climb, int process, int depth)
{
	struct world *world = climb->world;
	const struct process *subject = &world->processes[process];

	if (tree_has(world, climb->tree, process))
		return true;
	if (depth > DOOM_DEPTH || climb->need.kind != NEED_NOTHING)
		return false;
	if (holds_due_listener(climb, process))
		return true;
	if (climb->need.kind != NEED_NOTHING)
		return false;

	enum keeper kind = lineage_keeper(world, climb->ruleset, process, subject->tty != 0);

	return (kind == KEEPER_WRAPPER || kind == KEEPER_SCRIPT) && children_are_doomed(climb, process, depth);
}

/* One ancestor below the anchor: nearest ... elder are one program. */
static void visit(struct climb *climb, const struct ancestor *ancestor, enum keeper kind, bool is_same_rule)
{
	struct world *world = climb->world;
	int member = ancestor->nearest;

	for (int guard = 0; guard <= world->process_count; guard++) {
		int before = climb->tree->count;
		bool is_wanted = climb->wants_wrappers ? kind == KEEPER_WRAPPER || kind == KEEPER_SCRIPT : is_same_rule;

		if (is_wanted && world->processes[member].end_boot_ns == 0 &&
		    (is_same_rule || children_are_doomed(climb, member, 0)) && climb->need.kind == NEED_NOTHING) {
			add(world, climb->tree, member);
			if (!climb->wants_wrappers)
				add_children(world, climb->tree, before);
		}
		if (member == ancestor->elder)
			break;
		member = world->processes[member].birth_parent;
	}
}

/* Ends at the anchor and, where lineage was not asked, at the first that is neither the rule's own nor a wrapper. */
static void climb_from(struct climb *climb, int process)
{
	struct ancestor ancestor;
	struct walk walk;
	int child = process;

	lineage_walk_for_rule(climb->world, climb->ruleset, process, climb->rule, &walk);

	for (int guard = 0; guard <= climb->world->process_count && lineage_next(climb->world, child, &ancestor); guard++) {
		if (ancestor.elder == walk.anchor)
			return;

		enum keeper kind = lineage_keeper(climb->world, climb->ruleset, ancestor.elder, ancestor.had_tty);
		bool is_same_rule = kind == KEEPER_NONE &&
				    lineage_is_same_server(climb->world, &climb->ruleset->rules[climb->rule], ancestor.elder, process);
		bool is_passable = kind == KEEPER_WRAPPER || kind == KEEPER_SCRIPT || is_same_rule || !ancestor.is_alive;

		if (!is_passable)
			return;
		visit(climb, &ancestor, kind, is_same_rule);
		child = ancestor.elder;
	}
}

struct need tree_add_core(struct world *world, const struct ruleset *ruleset, int listener, int rule, struct tree *tree)
{
	const struct listener *subject = &world->listeners[listener];
	struct climb climb = { .world = world, .ruleset = ruleset, .rule = rule, .tree = tree };

	if (world->process_table == FACT_NOT_ASKED)
		return (struct need){ .kind = NEED_PROCESSES, .process = NONE, .listener = listener, .rule = rule };
	for (int i = 0; i < subject->holder_count; i++)
		add(world, tree, world->holders[subject->first_holder + i].process);
	for (int i = 0; i < subject->holder_count; i++)
		climb_from(&climb, world->holders[subject->first_holder + i].process);
	add_children(world, tree, 0);
	return (struct need){ .kind = NEED_NOTHING };
}

struct need tree_add_wrappers(struct world *world, const struct ruleset *ruleset, int listener, int rule,
			      struct tree *tree, tree_is_due *is_due, void *arg)
{
	const struct listener *subject = &world->listeners[listener];
	struct climb climb = {
		.world = world, .ruleset = ruleset, .rule = rule, .tree = tree, .wants_wrappers = true, .is_due = is_due, .arg = arg,
	};

	for (int i = 0; i < subject->holder_count && climb.need.kind == NEED_NOTHING; i++)
		climb_from(&climb, world->holders[subject->first_holder + i].process);
	return climb.need;
}

static bool is_elder(const struct world *world, int a, int b)
{
	const struct process_id *first = &world->processes[a].id, *second = &world->processes[b].id;

	return first->start_boot_ns != second->start_boot_ns ? first->start_boot_ns < second->start_boot_ns :
							       first->tgid < second->tgid;
}

/* Shell sort: no allocation and no recursion, and a tree may be a fork bomb. */
void tree_sort(const struct world *world, struct tree *tree)
{
	for (int gap = tree->count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
		for (int i = gap; i < tree->count; i++) {
			int moved = tree->members[i], at = i;

			for (; at >= gap && is_elder(world, moved, tree->members[at - gap]); at -= gap)
				tree->members[at] = tree->members[at - gap];
			tree->members[at] = moved;
		}
	}
}
