/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "../observe/pidref.h"
#include "../observe/proc.h"
#include "reaper.h"

const char *const outcome_names[OUTCOME_MAX] = {
	[OUTCOME_REAPED] = "reaped", [OUTCOME_WOULD_REAP] = "would-reap", [OUTCOME_SURVIVED] = "survived", [OUTCOME_GONE] = "gone",
	[OUTCOME_REFUSED] = "refused",
};

#define ROUNDS_MAX 5			/* a tree that still grows after as many looks is left for the next sweep */
#define KILLED_LOOK_NS (NS_PER_SEC / 10)	/* how often what was killed is looked at again */
#define KILLED_MAX_NS (5 * NS_PER_SEC)	/* what does not die of KILL by then sleeps in the kernel */

enum state { STATE_PINNED, STATE_SIGNALLED, STATE_KILLED };

/* One process that is signalled. */
struct victim {
	struct pidref ref;
	uint32_t uid;
	bool is_wanted;		/* in the tree of the latest look */
	bool is_stopped;
	bool has_ended;
	uint64_t signals;
	int order[4];
};

/* One listener that was due, and who holds it. */
struct target {
	struct act *acts;	/* a holder each */
	int act_count;
	uint64_t inode;
	uint32_t netns;
	int rule;
	struct process_id respawner;
	bool is_done;
};

/* A tree under way: listeners that share processes share it. */
struct reaping {
	uint32_t number;	/* from 1 on: process.memo.reaping */
	enum state state;
	struct target *targets;
	int target_count, target_room;
	struct victim *victims;
	int victim_count, victim_room;
	uint64_t started_boot_ns, deadline_boot_ns, killed_boot_ns;
	bool has_ended;		/* all of them, before the latest look: only then does that look tell whether the socket is gone */
};

struct reaper {
	struct reaper_options options;
	int epoll_fd;
	struct reaping *reapings;
	int count, room;
	uint32_t last_number;
};

static int grow(void **items, int count, int *room, size_t size)
{
	int wanted = *room ? *room * 2 : 8;
	void *larger;

	if (count < *room)
		return 0;
	larger = realloc(*items, (size_t)wanted * size);
	if (!larger)
		return -ENOMEM;
	*items = larger;
	*room = wanted;
	return 0;
}

int reaper_open(const struct reaper_options *options, struct reaper **ret)
{
	struct reaper *reaper = calloc(1, sizeof(*reaper));

	if (!reaper)
		return -ENOMEM;
	reaper->options = *options;
	reaper->options.is_dry_run |= options->ruleset->is_observe;
	reaper->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (reaper->epoll_fd < 0) {
		free(reaper);
		return -errno;
	}
	*ret = reaper;
	return 0;
}

void reaper_set_ruleset(struct reaper *reaper, const struct ruleset *ruleset)
{
	reaper->options.ruleset = ruleset;
}

static void forget_reaping(struct reaping *reaping)
{
	for (int i = 0; i < reaping->victim_count; i++)
		pidref_close(&reaping->victims[i].ref);
	for (int i = 0; i < reaping->target_count; i++)
		free(reaping->targets[i].acts);
	free(reaping->victims);
	free(reaping->targets);
}

void reaper_close(struct reaper *reaper)
{
	if (!reaper)
		return;
	for (int i = 0; i < reaper->count; i++)
		forget_reaping(&reaper->reapings[i]);
	free(reaper->reapings);
	close(reaper->epoll_fd);
	free(reaper);
}

static bool is_dry(const struct reaper *reaper)
{
	return reaper->options.is_dry_run || reaper->options.ruleset->is_observe;
}

static bool same_id(struct process_id a, struct process_id b)
{
	return a.tgid == b.tgid && a.start_boot_ns == b.start_boot_ns;
}

static struct victim *find_victim(const struct reaping *reaping, struct process_id id)
{
	for (int i = 0; i < reaping->victim_count; i++)
		if (same_id(reaping->victims[i].ref.id, id))
			return &reaping->victims[i];
	return NULL;
}

/* -ESRCH: it is gone. */
static int add_victim(struct reaper *reaper, struct reaping *reaping, struct process *process)
{
	struct victim victim = { .uid = process->uid, .is_stopped = process->is_stopped, .is_wanted = true };
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT };
	struct victim *known;
	int err;

	/* A thousand listeners of one tree: it was looked up for the first of them. */
	if (process->memo.reaping == reaping->number)
		return 0;
	process->memo.reaping = reaping->number;
	known = find_victim(reaping, process->id);
	if (known) {
		known->is_wanted = true;
		known->is_stopped = process->is_stopped;
		return 0;
	}
	err = grow((void **)&reaping->victims, reaping->victim_count, &reaping->victim_room, sizeof(victim));
	if (err == 0)
		err = pidref_pin(reaper->options.proc_fd, process->id, &victim.ref);
	if (err < 0)
		return err;
	if (epoll_ctl(reaper->epoll_fd, EPOLL_CTL_ADD, victim.ref.fd, &event) < 0) {
		err = -errno;
		pidref_close(&victim.ref);
		return err;
	}
	reaping->victims[reaping->victim_count++] = victim;
	return 1;
}

/* Program and the tokens that the rule names; the rest of an argv may hold secrets. */
static void write_argv(const struct rule *rule, const struct process *process, char *text, size_t size)
{
	const struct program *program = &process->program;
	const struct argv_pattern *pattern = rule->matcher.argv_count ? &rule->matcher.argv[0] : NULL;
	struct span name = program->exe.length ? program->exe : program->argv0;
	size_t used = (size_t)snprintf(text, size, "%.*s", (int)name.length, name.length ? name.start : "");
	const char *token;

	if (used < size && program->script.length)
		used += (size_t)snprintf(text + used, size - used, " %.*s", (int)program->script.length, program->script.start);
	token = rule->matcher.script.count || program->script.length ? program_script_argument(program, &process->argv) :
								       program_first_argument(program, &process->argv);
	for (size_t i = 0; pattern && token && i < pattern->count && used < size && strcmp(pattern->tokens[i], "...") != 0; i++) {
		used += (size_t)snprintf(text + used, size - used, " %s", token);
		token = argv_next(&process->argv, token);
	}
}

static void fill_act(const struct reaper *reaper, const struct world *world, int listener, const struct verdict *verdict, int holder, struct act *act,
		     uint64_t now_boot_ns)
{
	const struct listener *subject = &world->listeners[listener];
	const struct process *process = &world->processes[holder];
	const struct rule *rule = &reaper->options.ruleset->rules[verdict->rule];

	*act = (struct act){
		.pid = process->id, .uid = process->uid, .address = subject->address, .port = subject->port,
		.scope = addr_scope(&subject->address, subject->bound_dev), .inode = subject->inode, .netns = subject->netns,
		.age_ns = now_boot_ns - subject->opened_boot_ns,
		.orphaned_ns = verdict->has_orphaned && now_boot_ns > verdict->orphaned_boot_ns ? now_boot_ns - verdict->orphaned_boot_ns : 0,
	};
	snprintf(act->comm, sizeof(act->comm), "%s", process->comm);
	snprintf(act->rule, sizeof(act->rule), "%s", rule->matcher.name);
	if (verdict->walk.anchor != NONE) {
		act->anchor = world->processes[verdict->walk.anchor].id;
		snprintf(act->anchor_comm, sizeof(act->anchor_comm), "%s", world->processes[verdict->walk.anchor].comm);
	}
	write_argv(rule, process, act->argv, sizeof(act->argv));
}

/* Whoever would start it again: the live parent of the eldest that is stopped, if that is not pid 1. */
static struct process_id respawner_of(const struct world *world, const int *tree, int tree_count)
{
	int parent = tree_count ? world->processes[tree[0]].parent_now : NONE;

	return parent != NONE && world->processes[parent].id.tgid != 1 ? world->processes[parent].id : (struct process_id){ 0 };
}

static int make_target(const struct reaper *reaper, const struct world *world, int listener, const struct verdict *verdict, const int *tree,
		       int tree_count, struct target *ret)
{
	const struct listener *subject = &world->listeners[listener];
	struct target target = {
		.inode = subject->inode, .netns = subject->netns, .rule = verdict->rule, .respawner = respawner_of(world, tree, tree_count),
		.acts = calloc((size_t)subject->holder_count, sizeof(struct act)),
	};
	uint64_t now = clock_boot_ns();

	if (!target.acts)
		return -ENOMEM;
	for (int i = 0; i < subject->holder_count; i++) {
		int holder = world->holders[subject->first_holder + i].process;

		if (world->processes[holder].end_boot_ns == 0)
			fill_act(reaper, world, listener, verdict, holder, &target.acts[target.act_count++], now);
	}
	*ret = target;
	return 0;
}

/* For metrics; a count that cannot be written is no reason to stop. */
static void count_outcome(const struct reaper *reaper, const struct act *act)
{
	struct tally_key key = { .outcome = act->outcome };

	if (act->outcome == OUTCOME_WOULD_REAP)
		return;
	memcpy(key.rule, act->rule, strnlen(act->rule, sizeof(key.rule)));
	tracker_add_tally(reaper->options.tracker, &key);
}

/* Hands over what came of one listener. */
static void finish_target(struct reaper *reaper, const struct reaping *reaping, struct target *target, enum outcome outcome, const char *why)
{
	if (target->is_done)
		return;
	target->is_done = true;
	for (int i = 0; i < target->act_count; i++) {
		struct act *act = &target->acts[i];
		const struct victim *victim = reaping ? find_victim(reaping, act->pid) : NULL;

		act->outcome = outcome;
		snprintf(act->why, sizeof(act->why), "%s", why);
		act->tree_size = reaping ? reaping->victim_count : 0;
		act->took_ns = reaping ? clock_boot_ns() - reaping->started_boot_ns : 0;
		if (victim) {
			act->signals = victim->signals;
			memcpy(act->signal_order, victim->order, sizeof(act->signal_order));
		}
		count_outcome(reaper, act);
		reaper->options.done(act, reaper->options.arg);
	}
}

static struct reaping *find_reaping(struct reaper *reaper, const struct world *world, const int *tree, int tree_count)
{
	for (int i = 0; i < reaper->count; i++)
		for (int j = 0; j < tree_count; j++)
			if (world->processes[tree[j]].memo.reaping == reaper->reapings[i].number)
				return &reaper->reapings[i];
	for (int i = 0; i < reaper->count; i++)
		for (int j = 0; j < tree_count; j++)
			if (find_victim(&reaper->reapings[i], world->processes[tree[j]].id))
				return &reaper->reapings[i];
	return NULL;
}

int reaper_reap(struct reaper *reaper, struct observation *observation, int listener, const struct verdict *verdict, const int *tree,
		int tree_count)
{
	struct world *world = observation_world(observation);
	struct reaping *reaping;
	struct target target;
	int err = make_target(reaper, world, listener, verdict, tree, tree_count, &target);

	if (err < 0)
		return err;
	if (is_dry(reaper)) {
		finish_target(reaper, NULL, &target, OUTCOME_WOULD_REAP, "");
		free(target.acts);
		return 0;
	}
	reaping = find_reaping(reaper, world, tree, tree_count);
	if (!reaping) {
		err = grow((void **)&reaper->reapings, reaper->count, &reaper->room, sizeof(*reaping));
		if (err == 0) {
			reaping = &reaper->reapings[reaper->count++];
			*reaping = (struct reaping){ .number = ++reaper->last_number, .started_boot_ns = clock_boot_ns() };
		}
	}
	if (err == 0)
		err = grow((void **)&reaping->targets, reaping->target_count, &reaping->target_room, sizeof(target));
	if (err < 0) {
		free(target.acts);
		return err;
	}
	for (int i = 0; i < tree_count; i++) {
		int pinned = add_victim(reaper, reaping, &world->processes[tree[i]]);

		if (pinned == -ENOMEM) {
			free(target.acts);
			return pinned;
		}
		if (pinned < 0 && pinned != -ESRCH) {
			char why[160];

			snprintf(why, sizeof(why), "process %u could not be pinned: %s", world->processes[tree[i]].id.tgid, strerror(-pinned));
			finish_target(reaper, NULL, &target, OUTCOME_REFUSED, why);
			free(target.acts);
			return 0;
		}
	}
	reaping->targets[reaping->target_count++] = target;
	return 0;
}

/* Is it held by the same processes as when it was judged? */
static bool has_same_holders(const struct world *world, int listener, const struct target *target)
{
	const struct listener *subject = &world->listeners[listener];

	if (subject->holder_count != target->act_count)
		return false;
	for (int i = 0; i < subject->holder_count; i++) {
		bool is_known = false;

		for (int j = 0; j < target->act_count && !is_known; j++)
			is_known = same_id(world->processes[world->holders[subject->first_holder + i].process].id, target->acts[j].pid);
		if (!is_known)
			return false;
	}
	return true;
}

/* Judges one listener again on fresh facts; pins what its tree has besides. *ret_grew: something new was pinned. */
static int look_again_at(struct reaper *reaper, struct reaping *reaping, struct target *target, struct observation *observation, bool *ret_grew)
{
	struct world *world = observation_world(observation);
	int listener = observation_find_listener(observation, target->inode, target->netns), *tree, tree_count, err;
	struct verdict verdict;
	enum step step;

	if (listener == NONE) {
		finish_target(reaper, NULL, target, OUTCOME_GONE, "it no longer listens");
		return 0;
	}
	if (!has_same_holders(world, listener, target)) {
		finish_target(reaper, NULL, target, OUTCOME_REFUSED, "other processes hold it than when it was judged");
		return 0;
	}
	err = observation_judge(observation, reaper->options.ruleset, observation_boot_ns(observation), listener, &verdict, &step, &tree,
				&tree_count);
	if (err < 0)
		return err;
	if (verdict.kind != VERDICT_REAP || verdict.rule != target->rule) {
		finish_target(reaper, NULL, target, OUTCOME_REFUSED, reason_names[verdict.reason]);
		free(tree);
		return 0;
	}
	policy_count_due(world, tree, tree_count);
	for (int i = 0; i < tree_count && err == 0; i++) {
		int pinned = add_victim(reaper, reaping, &world->processes[tree[i]]);

		*ret_grew |= pinned > 0;
		if (pinned == -ENOMEM)
			err = pinned;
		else if (pinned < 0 && pinned != -ESRCH)
			finish_target(reaper, NULL, target, OUTCOME_REFUSED, "a process of its tree could not be pinned");
	}
	free(tree);
	return err;
}

static int compare_victims(const void *a, const void *b)
{
	const struct process_id *first = &((const struct victim *)a)->ref.id, *second = &((const struct victim *)b)->ref.id;

	if (first->start_boot_ns != second->start_boot_ns)
		return first->start_boot_ns < second->start_boot_ns ? -1 : 1;
	return first->tgid < second->tgid ? -1 : first->tgid > second->tgid;
}

/* Who is in nobody's tree any more is let go unharmed. */
static void drop_unwanted(struct reaping *reaping)
{
	int kept = 0;

	for (int i = 0; i < reaping->victim_count; i++) {
		if (reaping->victims[i].is_wanted)
			reaping->victims[kept++] = reaping->victims[i];
		else
			pidref_close(&reaping->victims[i].ref);
	}
	reaping->victim_count = kept;
	qsort(reaping->victims, (size_t)kept, sizeof(*reaping->victims), compare_victims);
}

static void send_signal(struct victim *victim, int signal)
{
	if (victim->has_ended || pidref_signal(&victim->ref, signal) < 0)
		return;
	if (!(victim->signals & UINT64_C(1) << signal))
		for (size_t i = 0; i < sizeof(victim->order) / sizeof(victim->order[0]); i++) {
			if (victim->order[i] == 0) {
				victim->order[i] = signal;
				break;
			}
		}
	victim->signals |= UINT64_C(1) << signal;
}

/* A stopped process takes a TERM only once it goes on. */
static void stop_victim(const struct reaper *reaper, struct victim *victim, int signal)
{
	struct proc_stat stat;

	send_signal(victim, signal);
	if (victim->is_stopped || (proc_read_stat(reaper->options.proc_fd, (pid_t)victim->ref.id.tgid, &stat) == 0 && stat.state == 'T'))
		send_signal(victim, SIGCONT);
}

static int live_targets(const struct reaping *reaping)
{
	int live = 0;

	for (int i = 0; i < reaping->target_count; i++)
		live += !reaping->targets[i].is_done;
	return live;
}

static void signal_tree(struct reaper *reaper, struct reaping *reaping)
{
	const struct rule *rule = NULL;
	uint64_t grace_ns = 0;

	for (int i = 0; i < reaping->target_count; i++) {
		if (reaping->targets[i].is_done)
			continue;
		rule = rule ? rule : &reaper->options.ruleset->rules[reaping->targets[i].rule];
		if (reaper->options.ruleset->rules[reaping->targets[i].rule].grace_ns > grace_ns)
			grace_ns = reaper->options.ruleset->rules[reaping->targets[i].rule].grace_ns;
	}
	for (int i = 0; i < reaping->victim_count; i++)
		stop_victim(reaper, &reaping->victims[i], rule->signal);
	reaping->state = STATE_SIGNALLED;
	reaping->deadline_boot_ns = clock_boot_ns() + grace_ns;
}

static void remove_finished(struct reaper *reaper)
{
	int kept = 0;

	for (int i = 0; i < reaper->count; i++) {
		if (live_targets(&reaper->reapings[i]) > 0)
			reaper->reapings[kept++] = reaper->reapings[i];
		else
			forget_reaping(&reaper->reapings[i]);
	}
	reaper->count = kept;
}

/* One more look at everything that is pinned but not signalled yet. *ret_left: some trees grew and must be looked at once more. */
static int look_again(struct reaper *reaper, bool is_last, int *ret_left)
{
	struct observation *observation = NULL;
	struct failure failure;
	int err = observation_take(reaper->options.tracker, reaper->options.proc_fd, &observation, &failure);

	*ret_left = 0;
	for (int i = 0; i < reaper->count && err == 0; i++) {
		struct reaping *reaping = &reaper->reapings[i];
		bool has_grown = false;

		if (reaping->state != STATE_PINNED)
			continue;
		for (int j = 0; j < reaping->victim_count; j++)
			reaping->victims[j].is_wanted = false;
		for (int j = 0; j < reaping->target_count && err == 0; j++)
			if (!reaping->targets[j].is_done)
				err = look_again_at(reaper, reaping, &reaping->targets[j], observation, &has_grown);
		if (err < 0 || live_targets(reaping) == 0)
			continue;
		drop_unwanted(reaping);
		if (!has_grown) {
			signal_tree(reaper, reaping);
			continue;
		}
		(*ret_left)++;
		for (int j = 0; j < reaping->target_count && is_last; j++)
			finish_target(reaper, NULL, &reaping->targets[j], OUTCOME_REFUSED, "its tree keeps growing");
	}
	observation_free(observation);
	return err;
}

int reaper_commit(struct reaper *reaper)
{
	bool has_pinned = false;
	int left = 1, err = 0;

	for (int i = 0; i < reaper->count; i++)
		has_pinned |= reaper->reapings[i].state == STATE_PINNED;
	for (int round = 1; has_pinned && left > 0 && round <= ROUNDS_MAX && err == 0; round++)
		err = look_again(reaper, round == ROUNDS_MAX, &left);
	remove_finished(reaper);
	return err;
}

int reaper_fd(const struct reaper *reaper)
{
	return reaper->epoll_fd;
}

uint64_t reaper_deadline_ns(const struct reaper *reaper)
{
	uint64_t deadline = UINT64_MAX;

	for (int i = 0; i < reaper->count; i++)
		if (reaper->reapings[i].deadline_boot_ns < deadline)
			deadline = reaper->reapings[i].deadline_boot_ns;
	return deadline;
}

bool reaper_is_idle(const struct reaper *reaper)
{
	return reaper->count == 0;
}

bool reaper_is_at(const struct reaper *reaper, uint64_t inode)
{
	for (int i = 0; i < reaper->count; i++)
		for (int j = 0; j < reaper->reapings[i].target_count; j++)
			if (reaper->reapings[i].targets[j].inode == inode)
				return true;
	return false;
}

static bool all_ended(struct reaping *reaping)
{
	bool has_live = false;

	for (int i = 0; i < reaping->victim_count; i++) {
		struct victim *victim = &reaping->victims[i];

		victim->has_ended = victim->has_ended || pidref_has_ended(&victim->ref);
		has_live |= !victim->has_ended;
	}
	return !has_live;
}

/* Children that came after the tree was listed. */
struct late {
	struct reaper *reaper;
	struct observation *observation;
};

static struct reaping *parent_reaping(struct reaper *reaper, const struct world *world, int process, struct process_id parent_now)
{
	int birth_parent = world->processes[process].birth_parent;

	for (int i = 0; i < reaper->count; i++) {
		struct reaping *reaping = &reaper->reapings[i];

		if (reaping->state == STATE_PINNED || find_victim(reaping, world->processes[process].id))
			continue;
		if (find_victim(reaping, parent_now) || (birth_parent != NONE && find_victim(reaping, world->processes[birth_parent].id)))
			return reaping;
	}
	return NULL;
}

/*
 * A late child goes with its tree, unless it is somebody's that must live: no verdict was given on it, so whoever is protected, a keeper, another
 * user's or in a pid namespace of its own stays.
 */
static bool may_follow(const struct reaper *reaper, const struct reaping *reaping, const struct process_record *record, const struct process *process)
{
	if (record->flags & (PROCESS_KTHREAD | PROCESS_NS_INIT | PROCESS_FOREIGN_PIDNS) || record->self.tgid == 1 || process->is_self_or_ancestor)
		return false;
	if (reaping->victim_count == 0 || record->euid != reaping->victims[0].uid)
		return false;
	switch (rules_keeper_of(reaper->options.ruleset, process, record->tty != 0)) {
	case KEEPER_AGENT:
	case KEEPER_PERSON:
	case KEEPER_SUPERVISOR:
	case KEEPER_MANAGER:
		return false;
	default:
		return !rules_protection_of(reaper->options.ruleset, process);
	}
}

static int take_late(const struct process_record *record, void *arg)
{
	struct late *late = arg;
	struct reaping *reaping;
	struct process *process;
	int index, err;

	if (record->flags & PROCESS_KTHREAD)
		return 0;
	err = observation_add(late->observation, record->self, &index);
	if (err < 0)
		return err;
	process = &observation_world(late->observation)->processes[index];
	reaping = parent_reaping(late->reaper, observation_world(late->observation), index, record->parent);
	/* Born before we began: it was there to be listed, and what was listed was judged. */
	if (!reaping || record->self.start_boot_ns < reaping->started_boot_ns || !may_follow(late->reaper, reaping, record, process))
		return 0;
	process->uid = record->euid;
	process->is_stopped = record->flags & PROCESS_STOPPED;
	err = add_victim(late->reaper, reaping, process);
	if (err > 0)
		stop_victim(late->reaper, &reaping->victims[reaping->victim_count - 1],
			    reaping->state == STATE_KILLED ? SIGKILL : late->reaper->options.ruleset->rules[reaping->targets[0].rule].signal);
	return err == -ENOMEM ? err : 0;
}

/* Whether the socket is still there decides; who holds it now is said. */
static void settle(struct reaper *reaper, struct reaping *reaping, struct observation *observation)
{
	const struct world *world = observation_world(observation);

	for (int i = 0; i < reaping->target_count; i++) {
		struct target *target = &reaping->targets[i];
		int listener = observation_find_listener(observation, target->inode, target->netns);
		char why[160] = "";

		if (target->is_done)
			continue;
		if (listener != NONE) {
			const struct process *holder = &world->processes[world->holders[world->listeners[listener].first_holder].process];

			snprintf(why, sizeof(why), "its processes are gone but the socket is held by process %u", holder->id.tgid);
		} else if (target->act_count > 0) {
			struct listener subject = {
				.netns = target->netns, .port = target->acts[0].port, .address = target->acts[0].address,
			};
			struct stop stop = { .stopped_boot_ns = clock_boot_ns(), .respawner = target->respawner };
			struct stop_key key;

			observation_stop_key(&subject, target->acts[0].rule, &key);
			tracker_put_stop(reaper->options.tracker, &key, &stop);
		}
		finish_target(reaper, reaping, target, listener == NONE ? OUTCOME_REAPED : OUTCOME_SURVIVED, why);
	}
}

static void give_up(struct reaper *reaper, struct reaping *reaping)
{
	char why[160] = "it does not die of KILL";

	for (int i = 0; i < reaping->victim_count; i++) {
		const struct victim *victim = &reaping->victims[i];
		struct proc_stat stat;

		if (victim->has_ended)
			continue;
		if (proc_read_stat(reaper->options.proc_fd, (pid_t)victim->ref.id.tgid, &stat) == 0)
			snprintf(why, sizeof(why), "process %u does not die of KILL (state %c)", victim->ref.id.tgid, stat.state);
		break;
	}
	for (int i = 0; i < reaping->target_count; i++)
		finish_target(reaper, reaping, &reaping->targets[i], OUTCOME_SURVIVED, why);
}

static void kill_left(struct reaping *reaping, uint64_t now_boot_ns)
{
	if (reaping->state != STATE_KILLED)
		reaping->killed_boot_ns = now_boot_ns;
	reaping->state = STATE_KILLED;
	reaping->deadline_boot_ns = now_boot_ns + KILLED_LOOK_NS;
	for (int i = 0; i < reaping->victim_count; i++)
		if (!reaping->victims[i].has_ended && !(reaping->victims[i].signals & UINT64_C(1) << SIGKILL))
			send_signal(&reaping->victims[i], SIGKILL);
}

/* Something ended or a deadline came: one fresh look serves all trees. */
static int follow(struct reaper *reaper, uint64_t now_boot_ns, struct observation *observation)
{
	struct late late = { .reaper = reaper, .observation = observation };
	struct failure failure;
	int err = tracker_read_processes(reaper->options.tracker, take_late, &late, &failure);

	if (err < 0)
		return err;
	for (int i = 0; i < reaper->count; i++) {
		struct reaping *reaping = &reaper->reapings[i];

		if (reaping->state == STATE_PINNED)
			continue;
		if (reaping->has_ended && all_ended(reaping))
			settle(reaper, reaping, observation);
		else if (reaping->state == STATE_KILLED && now_boot_ns >= reaping->killed_boot_ns + KILLED_MAX_NS)
			give_up(reaper, reaping);
		else if (all_ended(reaping))
			reaping->deadline_boot_ns = now_boot_ns;	/* they ended during this look: it takes one more */
		else if (now_boot_ns >= reaping->deadline_boot_ns)
			kill_left(reaping, now_boot_ns);
	}
	return 0;
}

int reaper_step(struct reaper *reaper, uint64_t now_boot_ns)
{
	struct epoll_event events[64];
	bool needs_look = false;
	struct observation *observation;
	struct failure failure;
	int err;

	while (epoll_wait(reaper->epoll_fd, events, sizeof(events) / sizeof(events[0]), 0) == (int)(sizeof(events) / sizeof(events[0])))
		;
	for (int i = 0; i < reaper->count; i++) {
		reaper->reapings[i].has_ended = all_ended(&reaper->reapings[i]);
		needs_look |= reaper->reapings[i].has_ended || now_boot_ns >= reaper->reapings[i].deadline_boot_ns;
	}
	if (!needs_look)
		return 0;
	err = observation_take(reaper->options.tracker, reaper->options.proc_fd, &observation, &failure);
	if (err < 0)
		return err;
	err = follow(reaper, now_boot_ns, observation);
	observation_free(observation);
	remove_finished(reaper);
	return err;
}
