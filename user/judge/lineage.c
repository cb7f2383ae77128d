/* SPDX-License-Identifier: GPL-2.0-only */
#include "lineage.h"

bool lineage_next(const struct world *world, int child, struct ancestor *ret)
{
	const struct process *processes = world->processes;
	int nearest = processes[child].birth_parent;

	if (nearest == NONE)
		return false;

	struct ancestor ancestor = {
		.nearest = nearest,
		.elder = nearest,
		.had_tty = processes[child].parent_tty != 0,
		.is_witnessed_link = processes[child].is_witnessed,
	};

	for (int guard = 0;; guard++) {
		const struct process *member = &processes[ancestor.elder];

		ancestor.is_alive |= member->end_boot_ns == 0;
		ancestor.had_tty |= member->tty != 0;
		if (member->end_boot_ns > ancestor.end_boot_ns)
			ancestor.end_boot_ns = member->end_boot_ns;
		if (member->has_execed || !member->is_witnessed || member->birth_parent == NONE ||
		    guard == world->process_count)
			break;
		ancestor.elder = member->birth_parent;
	}
	if (ancestor.is_alive)
		ancestor.end_boot_ns = 0;
	*ret = ancestor;
	return true;
}

enum keeper lineage_keeper(struct world *world, const struct ruleset *ruleset, int process, bool had_tty)
{
	struct process *subject = &world->processes[process];

	if (subject->memo.keeper[had_tty] == 0)
		subject->memo.keeper[had_tty] = (int8_t)(rules_keeper_of(ruleset, subject, had_tty) + 1);
	return (enum keeper)(subject->memo.keeper[had_tty] - 1);
}

enum match lineage_fits_rule(const struct world *world, const struct rule *rule, int process)
{
	const struct process *subject = &world->processes[process];
	enum match match = rule_fits_process(rule, subject);

	if (match == MATCH_NO && subject->birth_parent != NONE && rules_is_multiprocessing_child(subject))
		match = rule_fits_process(rule, &world->processes[subject->birth_parent]);
	return match;
}

/* Forked without an exec in between: one image. */
static bool is_same_image(const struct world *world, int descendant, int ancestor)
{
	for (int guard = 0; guard <= world->process_count && descendant != NONE; guard++) {
		if (descendant == ancestor)
			return true;
		if (world->processes[descendant].has_execed || !world->processes[descendant].is_witnessed)
			return false;
		descendant = world->processes[descendant].birth_parent;
	}
	return false;
}

bool lineage_is_same_server(const struct world *world, const struct rule *rule, int process, int holder)
{
	const struct process *one = &world->processes[process], *other = &world->processes[holder];

	if (lineage_fits_rule(world, rule, process) != MATCH_YES)
		return false;
	if (rule->born_of.count > 0 && !lineage_is_born_of(world, process, &rule->born_of))
		return false;
	return rule_names_server(rule) || program_is_same(&one->program, &other->program) || is_same_image(world, holder, process) ||
	       is_same_image(world, process, holder);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Agents among the birth ancestors of this one. */
struct agents_above {
	bool has_any, has_alive;
	uint64_t last_end_boot_ns;
};

static struct agents_above find_agents(struct world *world, const struct ruleset *ruleset, int process)
{
	struct agents_above found = { 0 };
	struct ancestor above;
	int child = process;

	for (int guard = 0; guard <= world->process_count && lineage_next(world, child, &above); guard++) {
		if (lineage_keeper(world, ruleset, above.elder, above.had_tty) == KEEPER_AGENT) {
			found.has_any = true;
			found.has_alive |= above.is_alive;
			found.last_end_boot_ns = later(found.last_end_boot_ns, above.end_boot_ns);
		} else if (above.is_alive && rules_may_be_keeper(ruleset, &world->processes[above.elder], above.had_tty)) {
			found.has_alive = true;		/* its argv is cut: it may be one, and lives */
		}
		child = above.elder;
	}
	return found;
}

/*
 * What lies between the holder and the ancestor that the walk has reached. A manager's row asks for all of it; the
 * part above the highest live same-rule ancestor is kept apart, because that one is the server itself.
 */
struct job {
	int size;
	int others;			/* wrappers aside */
	bool is_all_own_program;	/* those */
	bool has_live_script, has_live_wrapper;
	int last_to_end;		/* NONE: none has ended */
	uint64_t last_end_boot_ns;
	int first;			/* nearest to the manager */
	uint64_t wrapper_end_boot_ns;
	uint64_t script_end_boot_ns;
};

static void job_add(struct job *job, const struct world *world, const struct ancestor *ancestor, enum keeper kind, int holder)
{
	job->size++;
	job->first = ancestor->elder;
	if (kind == KEEPER_WRAPPER) {
		job->has_live_wrapper |= ancestor->is_alive;
		job->wrapper_end_boot_ns = later(job->wrapper_end_boot_ns, ancestor->end_boot_ns);
	} else {
		job->others++;
		job->is_all_own_program &= program_is_same(&world->processes[ancestor->elder].program,
							   &world->processes[holder].program);
	}
	if (kind == KEEPER_SCRIPT) {
		job->has_live_script |= ancestor->is_alive;
		job->script_end_boot_ns = later(job->script_end_boot_ns, ancestor->end_boot_ns);
	}
	if (!ancestor->is_alive && ancestor->end_boot_ns >= job->last_end_boot_ns) {
		job->last_end_boot_ns = ancestor->end_boot_ns;
		job->last_to_end = ancestor->elder;
	}
}

#define JOB_EMPTY ((struct job){ .is_all_own_program = true, .last_to_end = NONE, .first = NONE })

/* Born directly of its manager, or a script in between is alive, or nothing but wrappers is in between and one is alive. */
static bool job_still_runs(const struct job *job)
{
	return job->size == 0 || job->has_live_script || (job->others == 0 && job->has_live_wrapper);
}

static bool job_is_daemon(const struct world *world, const struct ruleset *ruleset, const struct job *job, int manager)
{
	const struct process *keeper = &world->processes[manager];

	if (job->others > 0 && job->is_all_own_program)
		return true;	/* detached itself */
	if (keeper->id.tgid == 1)
		return true;
	return world->processes[job->first].id.start_boot_ns - keeper->id.start_boot_ns < ruleset->boot_ns;
}

/* The walk's own state: what has been skipped so far, and the last end without which it would have stopped there. */
struct progress {
	struct job job;			/* all in between */
	struct job job_above_own;	/* the part above the highest live same-rule ancestor */
	uint64_t needed_end_boot_ns;
};

static struct walk answer(enum lineage lineage, const struct ancestor *ancestor, enum keeper kind)
{
	return (struct walk){
		.lineage = lineage, .anchor = ancestor->elder, .anchor_kind = kind, .is_anchor_alive = ancestor->is_alive,
		.broke_at = NONE,
	};
}

static struct walk answer_unknown(int broke_at)
{
	return (struct walk){ .lineage = LINEAGE_UNKNOWN, .anchor = NONE, .broke_at = broke_at };
}

/* The manager's row. Alive or ended makes no difference: the job below it decides. */
static struct walk ask_manager(const struct world *world, const struct ruleset *ruleset, const struct progress *progress,
			       const struct ancestor *manager)
{
	const struct job *job = &progress->job;

	if (job_still_runs(job))
		return answer(LINEAGE_OWNED, manager, KEEPER_MANAGER);
	if (job_is_daemon(world, ruleset, job, manager->elder))
		return answer(LINEAGE_DAEMON, manager, KEEPER_MANAGER);
	/*
	 * design.md's row would call `cron -> next dev (alive) -> next-server` an orphan, since a live same-rule parent is
	 * neither script nor wrapper. That parent is the server itself: it is its job that must still run.
	 */
	if (progress->job_above_own.size < job->size && job_still_runs(&progress->job_above_own))
		return answer(LINEAGE_OWNED, manager, KEEPER_MANAGER);
	if (job->last_to_end == NONE)
		return answer(LINEAGE_OWNED, manager, KEEPER_MANAGER);

	uint64_t orphaned = later(progress->needed_end_boot_ns, job->script_end_boot_ns);

	if (job->others == 0)
		orphaned = later(orphaned, job->wrapper_end_boot_ns);
	return (struct walk){
		.lineage = LINEAGE_ORPHAN, .anchor = job->last_to_end, .anchor_kind = KEEPER_NONE, .broke_at = NONE,
		.orphaned_boot_ns = orphaned ? orphaned : job->last_end_boot_ns,
	};
}

/* One row of the table; true when it answers. */
static bool ask(struct world *world, const struct ruleset *ruleset, const struct progress *progress, const struct ancestor *ancestor,
		enum keeper kind, bool is_same_rule, struct walk *ret)
{
	struct agents_above above;

	switch (kind) {
	case KEEPER_AGENT:
		if (!ancestor->is_alive) {
			above = find_agents(world, ruleset, ancestor->elder);
			if (above.has_alive)
				return false;	/* a sub-agent, an agent inside a CI job */
			*ret = answer(LINEAGE_ORPHAN, ancestor, kind);
			ret->orphaned_boot_ns = later(later(progress->needed_end_boot_ns, ancestor->end_boot_ns),
						      above.last_end_boot_ns);
			return true;
		}
		break;
	case KEEPER_PERSON:
	case KEEPER_SUPERVISOR:
		if (!ancestor->is_alive) {
			if (find_agents(world, ruleset, ancestor->elder).has_any)
				return false;
			*ret = answer(LINEAGE_OPERATOR, ancestor, kind);
			ret->orphaned_boot_ns = later(progress->needed_end_boot_ns, ancestor->end_boot_ns);
			return true;
		}
		break;
	case KEEPER_MANAGER:
		*ret = ancestor->is_witnessed_link ? ask_manager(world, ruleset, progress, ancestor) :
						     answer_unknown(ancestor->nearest);
		return true;
	case KEEPER_WRAPPER:
	case KEEPER_SCRIPT:
		return false;
	case KEEPER_NONE:
	case KEEPER_MAX:
		if (is_same_rule || !ancestor->is_alive)
			return false;
		break;
	}
	*ret = answer(LINEAGE_OWNED, ancestor, kind);
	return true;
}

static bool is_skipped_for_its_end(enum keeper kind, bool is_same_rule)
{
	return kind != KEEPER_WRAPPER && kind != KEEPER_SCRIPT && !is_same_rule;
}

void lineage_walk(struct world *world, const struct ruleset *ruleset, int process, int rule, struct walk *ret, struct walk_step *steps,
		  int max, int *ret_steps)
{
	struct progress progress = { .job = JOB_EMPTY, .job_above_own = JOB_EMPTY };
	struct ancestor ancestor;
	int child = process, depth = 0;
	struct walk walk;

	for (;;) {
		if (depth > world->process_count || !lineage_next(world, child, &ancestor)) {
			walk = answer_unknown(child);
			break;
		}

		enum keeper kind = lineage_keeper(world, ruleset, ancestor.elder, ancestor.had_tty);
		bool is_same_rule = rule != NONE && kind == KEEPER_NONE &&
				    lineage_is_same_server(world, &ruleset->rules[rule], ancestor.elder, process);
		bool is_answer = ask(world, ruleset, &progress, &ancestor, kind, is_same_rule, &walk);

		/* What may have been a keeper is not looked through. */
		if (!is_answer && kind == KEEPER_NONE && !is_same_rule &&
		    rules_may_be_keeper(ruleset, &world->processes[ancestor.elder], ancestor.had_tty)) {
			walk = answer_unknown(ancestor.elder);
			is_answer = true;
		}

		if (steps && depth < max)
			steps[depth] = (struct walk_step){
				.process = ancestor.elder, .kind = kind, .is_alive = ancestor.is_alive,
				.is_same_rule = is_same_rule, .is_answer = is_answer,
			};
		depth++;
		if (is_answer)
			break;

		job_add(&progress.job, world, &ancestor, kind, process);
		if (is_same_rule && ancestor.is_alive)
			progress.job_above_own = JOB_EMPTY;
		else
			job_add(&progress.job_above_own, world, &ancestor, kind, process);
		if (is_skipped_for_its_end(kind, is_same_rule))
			progress.needed_end_boot_ns = later(progress.needed_end_boot_ns, ancestor.end_boot_ns);
		child = ancestor.elder;
	}
	walk.depth = depth;
	if (ret_steps)
		*ret_steps = depth;
	*ret = walk;
}

void lineage_walk_parent(struct world *world, const struct ruleset *ruleset, int process, int rule, struct walk *ret)
{
	struct ancestor ancestor;
	int child = process;

	for (int depth = 1; depth <= world->process_count && lineage_next(world, child, &ancestor); depth++) {
		enum keeper kind = lineage_keeper(world, ruleset, ancestor.elder, ancestor.had_tty);
		bool is_own = ancestor.is_alive && kind == KEEPER_NONE && rule != NONE &&
			      lineage_is_same_server(world, &ruleset->rules[rule], ancestor.elder, process);

		child = ancestor.elder;
		if (kind == KEEPER_WRAPPER || is_own)
			continue;
		if (kind == KEEPER_MANAGER && !ancestor.is_witnessed_link) {
			*ret = answer_unknown(ancestor.nearest);
		} else if (!ancestor.is_alive && kind == KEEPER_NONE &&
			   rules_may_be_keeper(ruleset, &world->processes[ancestor.elder], ancestor.had_tty)) {
			*ret = answer_unknown(ancestor.elder);
		} else if (ancestor.is_alive) {
			*ret = answer(LINEAGE_OWNED, &ancestor, kind);
		} else {
			bool is_persons = (kind == KEEPER_PERSON || kind == KEEPER_SUPERVISOR) &&
					  !find_agents(world, ruleset, ancestor.elder).has_any;

			*ret = answer(is_persons ? LINEAGE_OPERATOR : LINEAGE_ORPHAN, &ancestor, kind);
			ret->orphaned_boot_ns = ancestor.end_boot_ns;
		}
		ret->depth = depth;
		return;
	}
	*ret = answer_unknown(child);
}

void lineage_walk_for_rule(struct world *world, const struct ruleset *ruleset, int process, int rule, struct walk *ret)
{
	if (rule != NONE && ruleset->rules[rule].orphan == RULE_ORPHAN_PARENT)
		lineage_walk_parent(world, ruleset, process, rule, ret);
	else
		lineage_walk(world, ruleset, process, rule, ret, NULL, 0, NULL);
}

bool lineage_has_keeper(struct world *world, const struct ruleset *ruleset, int process, enum keeper kind)
{
	struct ancestor ancestor;
	int child = process;

	for (int guard = 0; guard <= world->process_count && lineage_next(world, child, &ancestor); guard++) {
		if (lineage_keeper(world, ruleset, ancestor.elder, ancestor.had_tty) == kind)
			return true;
		child = ancestor.elder;
	}
	return false;
}

bool lineage_is_born_of(const struct world *world, int process, const struct globs *programs)
{
	int ancestor = world->processes[process].birth_parent;

	for (int guard = 0; guard <= world->process_count && ancestor != NONE; guard++) {
		if (globs_name_program(programs, &world->processes[ancestor].program))
			return true;
		ancestor = world->processes[ancestor].birth_parent;
	}
	return false;
}

bool lineage_descends_from(const struct world *world, int process, int ancestor)
{
	for (int guard = 0; guard <= world->process_count && process != NONE; guard++) {
		if (process == ancestor)
			return true;
		process = world->processes[process].birth_parent;
	}
	return false;
}
