/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>
#include "cgroup.h"
#include "traffic.h"

const char *const verdict_names[VERDICT_MAX] = {
	[VERDICT_SPARE] = "spare", [VERDICT_WAIT] = "wait", [VERDICT_REAP] = "reap",
};

const char *const reason_names[REASON_MAX] = {
	[REASON_DUE] = "due",
	[REASON_YOUNG] = "young",
	[REASON_RECENTLY_ORPHANED] = "recently-orphaned",
	[REASON_ANCHOR_ALIVE] = "anchor-alive",
	[REASON_LINEAGE_UNKNOWN] = "lineage-unknown",
	[REASON_OPERATOR] = "operator",
	[REASON_DAEMON] = "daemon",
	[REASON_NO_RULE] = "no-rule",
	[REASON_REPORT_ONLY] = "report-only",
	[REASON_PROTECTED] = "protected",
	[REASON_FLOOR] = "floor",
	[REASON_OPT_OUT] = "opt-out",
	[REASON_IN_USE] = "in-use",
	[REASON_OTHER_USER] = "other-user",
	[REASON_NAMESPACE] = "namespace",
	[REASON_SERVICE] = "service",
	[REASON_NO_HOLDER] = "no-holder",
	[REASON_UNREADABLE] = "unreadable",
	[REASON_FOREIGN_HOLDER] = "foreign-holder",
	[REASON_RESPAWNED] = "respawned",
	[REASON_LIMIT] = "limit",
};

const char *const orphan_names[ORPHAN_MAX] = {
	[ORPHAN_NO] = "no", [ORPHAN_YES] = "yes", [ORPHAN_UNKNOWN] = "unknown",
};

const char *const step_names[STEP_MAX] = {
	[STEP_HOLDER] = "holder", [STEP_FLOOR] = "floor", [STEP_RULE] = "rule", [STEP_OPT_OUT] = "opt-out", [STEP_USER] = "user",
	[STEP_NAMESPACE] = "namespace", [STEP_SERVICE] = "service", [STEP_LINEAGE] = "lineage", [STEP_TREE] = "tree", [STEP_AGE] = "age",
	[STEP_USE] = "use", [STEP_RESPAWN] = "respawn", [STEP_ACTION] = "action", [STEP_LIMIT] = "limit",
};

/* A listener that comes back this soon after we stopped it has somebody who restarts it (design.md, step 10). */
#define RESPAWN_NS (60 * NS_PER_SEC)
#define RESPAWN_NO_AGENT_NS (3600 * NS_PER_SEC)

enum answer { PASS, DECIDED, NEEDS };

/* One judgement under way. Steps read facts and fill verdict, need and tree. */
struct judgement {
	struct world *world;
	const struct ruleset *ruleset;
	uint64_t now_boot_ns;
	const struct policy_request *request;
	int index;
	const struct listener *listener;
	const struct rule *rule;	/* after STEP_RULE */
	bool is_alone;			/* other listeners are left out of account */
	bool would_be_signalled;	/* the lineage does not spare it: there is a tree */
	int waits_for;			/* another listener of the tree that only waits; NONE */
	uint64_t waits_until_boot_ns;
	struct tree tree;
	struct verdict *verdict;
	struct need need;
};

static enum answer decide(struct judgement *judgement, enum verdict_kind kind, enum reason reason, int culprit, const char *what)
{
	judgement->verdict->kind = kind;
	judgement->verdict->reason = reason;
	judgement->verdict->culprit = culprit;
	judgement->verdict->what = what;
	return DECIDED;
}

static enum answer spare(struct judgement *judgement, enum reason reason, int culprit, const char *what)
{
	return decide(judgement, VERDICT_SPARE, reason, culprit, what);
}

static enum answer ask_for(struct judgement *judgement, enum need_kind kind, int process)
{
	judgement->need = (struct need){
		.kind = kind, .process = process, .listener = judgement->index, .rule = judgement->verdict->rule,
	};
	return NEEDS;
}

static int holder_at(const struct judgement *judgement, int i)
{
	return judgement->world->holders[judgement->listener->first_holder + i].process;
}

static struct process *process_at(const struct judgement *judgement, int process)
{
	return &judgement->world->processes[process];
}

static bool is_alive(const struct judgement *judgement, int process)
{
	return process_at(judgement, process)->end_boot_ns == 0;
}

/* Every live holder; the ended ones hold nothing any more. */
#define for_each_holder(judgement, holder)                                                                             \
	for (int at_ = 0, holder = NONE; at_ < (judgement)->listener->holder_count; at_++)                             \
		if ((holder = holder_at(judgement, at_), !is_alive(judgement, holder)))                                 \
			continue;                                                                                      \
		else

/* 1. Somebody holds it, and its record can be read. */
static enum answer check_holder(struct judgement *judgement)
{
	bool has_any = false;

	for_each_holder(judgement, holder)
		has_any = true;
	if (!has_any)
		return spare(judgement, REASON_NO_HOLDER, NONE, NULL);
	if (judgement->listener->opened_boot_ns == 0 || judgement->listener->opened_boot_ns > judgement->now_boot_ns)
		return spare(judgement, REASON_UNREADABLE, NONE, "when it began to listen");
	return PASS;
}

static const char *floor_of(const struct judgement *judgement, int process)
{
	static const char *const shims[] = { "containerd-shim*", "conmon*", "docker-proxy", "rootlessport*", "slirp4netns", "pasta*" };
	const struct process *subject = process_at(judgement, process);

	if (subject->id.tgid == 1 || subject->is_ns_init)
		return "it is pid 1 of a pid namespace";
	if (subject->is_kthread)
		return "it is a kernel thread";
	if (subject->is_self_or_ancestor)
		return "it is listenreap itself or runs it";
	for (size_t i = 0; i < sizeof(shims) / sizeof(shims[0]); i++)
		if (span_matches(subject->program.exe, shims[i]) || span_matches(subject->program.argv0, shims[i]))
			return "it is a container shim";
	switch (lineage_keeper(judgement->world, judgement->ruleset, process, subject->tty != 0)) {
	case KEEPER_AGENT: return "it is an agent";
	case KEEPER_PERSON: return "it is a person's shell, session or editor";
	case KEEPER_SUPERVISOR: return "it is a supervisor";
	case KEEPER_MANAGER: return "it is a manager";
	default: return NULL;
	}
}

/* 2. What no configuration can make a target. */
static enum answer check_floor(struct judgement *judgement)
{
	for_each_holder(judgement, holder) {
		const struct process *subject = process_at(judgement, holder);
		const char *what;

		if (subject->program.is_incomplete && subject->cmdline == FACT_NOT_ASKED)
			return ask_for(judgement, NEED_CMDLINE, holder);
		what = floor_of(judgement, holder);
		if (what)
			return spare(judgement, REASON_FLOOR, holder, what);
	}
	return PASS;
}

/* A match that may depend on what is not known yet: asks for it, and UNKNOWN stays only when it cannot be read. */
static enum match fits(struct judgement *judgement, const struct rule *rule, int process)
{
	const struct process *subject = process_at(judgement, process);
	enum match match = lineage_fits_rule(judgement->world, rule, process);

	if (match != MATCH_UNKNOWN && (subject->exe || match == MATCH_NO))
		return match;
	if (subject->end_boot_ns == 0 && !subject->exe && subject->details == FACT_NOT_ASKED)
		ask_for(judgement, NEED_DETAILS, process);
	else if (subject->end_boot_ns == 0 && match == MATCH_UNKNOWN && subject->cmdline == FACT_NOT_ASKED)
		ask_for(judgement, NEED_CMDLINE, process);
	return subject->exe || subject->end_boot_ns != 0 ? match : MATCH_UNKNOWN;
}

static enum match fits_environment(struct judgement *judgement, const struct rule *rule, int process)
{
	if (rule->env_count == 0)
		return MATCH_YES;
	if (process_at(judgement, process)->environ == FACT_NOT_ASKED)
		ask_for(judgement, NEED_ENVIRON, process);
	return rule_fits_environment(rule, process_at(judgement, process));
}

static enum match fits_cgroup(struct judgement *judgement, const struct rule *rule, int process)
{
	const struct process *subject = process_at(judgement, process);

	if (rule->cgroup.count == 0)
		return MATCH_YES;
	if (subject->details == FACT_NOT_ASKED)
		ask_for(judgement, NEED_DETAILS, process);
	if (!subject->cgroup)
		return MATCH_UNKNOWN;
	return rule_fits_cgroup(rule, subject->cgroup) ? MATCH_YES : MATCH_NO;
}

/* The conditions of a rule beyond program and argv, for one holder. Cheap ones first. */
static enum match fits_surroundings(struct judgement *judgement, int rule_index, int holder)
{
	const struct rule *rule = &judgement->ruleset->rules[rule_index];
	enum match cgroup, environment;

	if (rule->born_of.count > 0 && !lineage_is_born_of(judgement->world, holder, &rule->born_of))
		return MATCH_NO;
	if (rule->anchor_kinds != 0) {
		struct walk walk;
		enum keeper kind;

		lineage_walk_for_rule(judgement->world, judgement->ruleset, holder, rule_index, &walk);
		kind = walk.anchor_kind == KEEPER_WRAPPER || walk.anchor_kind == KEEPER_SCRIPT ? KEEPER_NONE : walk.anchor_kind;
		if (walk.anchor == NONE || !(rule->anchor_kinds & 1u << kind))
			return MATCH_NO;
	}
	cgroup = fits_cgroup(judgement, rule, holder);
	if (cgroup != MATCH_YES)
		return cgroup;
	environment = fits_environment(judgement, rule, holder);
	return environment;
}

/* The first rule that this process does not fail by itself, remembered: most processes fail all of them, and hold many listeners. */
static int first_candidate(struct judgement *judgement, int process)
{
	struct process *subject = process_at(judgement, process);
	int count = (int)judgement->ruleset->rule_count, rule = 0;

	if (subject->memo.candidate == 0) {
		while (rule < count && lineage_fits_rule(judgement->world, &judgement->ruleset->rules[rule], process) == MATCH_NO)
			rule++;
		subject->memo.candidate = rule + 1;
	}
	return subject->memo.candidate - 1;
}

/* None of its holders, nor its opener, can be named by a rule before this one. */
static int first_rule(struct judgement *judgement)
{
	int first = (int)judgement->ruleset->rule_count, opener = judgement->listener->opener;

	for_each_holder(judgement, holder) {
		int candidate = first_candidate(judgement, holder);

		first = candidate < first ? candidate : first;
	}
	if (opener != NONE && first_candidate(judgement, opener) < first)
		first = first_candidate(judgement, opener);
	return first;
}

static bool all_born_of_opener(const struct judgement *judgement)
{
	if (judgement->listener->opener == NONE)
		return false;
	for_each_holder(judgement, holder)
		if (!lineage_descends_from(judgement->world, holder, judgement->listener->opener))
			return false;
	return true;
}

/* Does this rule match the listener, through a holder or through its opener? */
static enum match rule_matches(struct judgement *judgement, int rule_index)
{
	const struct rule *rule = &judgement->ruleset->rules[rule_index];
	enum match best = MATCH_NO;

	if (!rule_fits_listener(rule, judgement->listener))
		return MATCH_NO;

	bool is_openers = all_born_of_opener(judgement) && fits(judgement, rule, judgement->listener->opener) == MATCH_YES;

	for_each_holder(judgement, holder) {
		enum match match = fits(judgement, rule, holder);

		if (match == MATCH_NO && is_openers)
			match = MATCH_YES;
		if (match == MATCH_YES && judgement->need.kind == NEED_NOTHING)
			match = fits_surroundings(judgement, rule_index, holder);
		if (match == MATCH_YES)
			return MATCH_YES;
		if (match == MATCH_UNKNOWN)
			best = MATCH_UNKNOWN;
	}
	return best;
}

/* The same server as a holder or opener that the rule names, or named by a rule of its own that does not ask for surroundings alone. */
static bool is_own_program(struct judgement *judgement, int process)
{
	const struct process *subject = process_at(judgement, process);
	int opener = judgement->listener->opener;

	for_each_holder(judgement, holder) {
		if (fits(judgement, judgement->rule, holder) != MATCH_YES)
			continue;
		if ((holder == process || lineage_is_same_server(judgement->world, judgement->rule, process, holder) ||
		     program_is_same(&process_at(judgement, holder)->program, &subject->program)) &&
		    fits_surroundings(judgement, judgement->verdict->rule, process) != MATCH_NO)
			return true;
	}
	if (opener != NONE && fits(judgement, judgement->rule, opener) == MATCH_YES &&
	    program_is_same(&process_at(judgement, opener)->program, &subject->program))
		return true;
	for (size_t i = 0; i < judgement->ruleset->rule_count; i++) {
		const struct rule *rule = &judgement->ruleset->rules[i];

		if (rule_names_server(rule) && rule->env_count == 0 && fits(judgement, rule, process) == MATCH_YES &&
		    (rule->born_of.count == 0 || lineage_is_born_of(judgement->world, process, &rule->born_of)))
			return true;
	}
	return false;
}

/* 3. The first rule that matches; nothing below is read for a listener without one. */
static enum answer check_rule(struct judgement *judgement)
{
	for (size_t i = (size_t)first_rule(judgement); i < judgement->ruleset->rule_count; i++) {
		enum match match = rule_matches(judgement, (int)i);

		if (judgement->need.kind != NEED_NOTHING)
			return NEEDS;
		if (match == MATCH_UNKNOWN)
			return spare(judgement, REASON_UNREADABLE, NONE, "its executable, argv or surroundings, which a rule asks for");
		if (match != MATCH_YES)
			continue;
		judgement->rule = &judgement->ruleset->rules[i];
		judgement->verdict->rule = (int)i;
		break;
	}
	if (!judgement->rule)
		return spare(judgement, REASON_NO_RULE, NONE, NULL);

	for_each_holder(judgement, holder) {
		bool is_own = is_own_program(judgement, holder);

		if (judgement->need.kind != NEED_NOTHING)
			return NEEDS;
		if (!is_own)
			return spare(judgement, REASON_FOREIGN_HOLDER, holder, NULL);
	}
	return PASS;
}

/* Which holder's walk decides: one that must live saves all. */
static int walk_rank(const struct judgement *judgement, const struct walk *walk)
{
	bool reaps_operators = judgement->rule && judgement->rule->operator == RULE_REAP;

	switch (walk->lineage) {
	case LINEAGE_OWNED: return 4;
	case LINEAGE_DAEMON: return 3;
	case LINEAGE_OPERATOR: return reaps_operators ? 0 : 2;
	case LINEAGE_UNKNOWN: return 1;
	default: return 0;
	}
}

/* The walk of all holders together: known early, because what would be signalled depends on it. */
static void look_at_lineage(struct judgement *judgement)
{
	struct verdict *verdict = judgement->verdict;
	bool has_any = false;

	for_each_holder(judgement, holder) {
		struct walk walk;
		int rank, best;

		lineage_walk_for_rule(judgement->world, judgement->ruleset, holder, verdict->rule, &walk);
		rank = walk_rank(judgement, &walk);
		best = walk_rank(judgement, &verdict->walk);
		if (!has_any || rank > best || (rank == best && walk.orphaned_boot_ns > verdict->walk.orphaned_boot_ns)) {
			verdict->walk = walk;
			verdict->decider = holder;
		}
		has_any = true;
	}
	switch (verdict->walk.lineage) {
	case LINEAGE_ORPHAN:
	case LINEAGE_OPERATOR:
		verdict->orphan = ORPHAN_YES;
		verdict->has_orphaned = true;
		verdict->orphaned_boot_ns = verdict->walk.orphaned_boot_ns > judgement->listener->opened_boot_ns ?
						    verdict->walk.orphaned_boot_ns : judgement->listener->opened_boot_ns;
		break;
	case LINEAGE_OWNED:
	case LINEAGE_DAEMON:
		verdict->orphan = ORPHAN_NO;
		break;
	default:
		verdict->orphan = ORPHAN_UNKNOWN;
	}
	judgement->would_be_signalled = judgement->rule && (judgement->rule->orphan == RULE_ORPHAN_ANY ||
							    walk_rank(judgement, &verdict->walk) == 0);
}

static struct need judge(struct judgement *judgement, enum step *ret_step);

/* Judged alone: without asking whether other listeners of its tree are due. Remembered for the sweep. */
static bool judge_alone(struct judgement *outer, int index, struct need *ret_need)
{
	struct listener *other = &outer->world->listeners[index];

	if (!other->memo.is_judged_alone) {
		struct verdict verdict;
		enum step step;
		struct judgement inner = {
			.world = outer->world, .ruleset = outer->ruleset, .now_boot_ns = outer->now_boot_ns,
			.request = outer->request, .index = index, .is_alone = true, .verdict = &verdict,
		};

		*ret_need = judge(&inner, &step);
		/* The inner judgement walked a tree of its own: its marks lie over ours. */
		for (int i = 0; i < outer->tree.count; i++)
			process_at(outer, outer->tree.members[i])->memo.mark = outer->tree.mark;
		if (ret_need->kind != NEED_NOTHING)
			return false;
		other->memo.verdict = (uint8_t)verdict.kind;
		other->memo.reason = (uint8_t)verdict.reason;
		other->memo.rule = verdict.rule;
		other->memo.due_boot_ns = verdict.due_boot_ns;
		other->memo.is_judged_alone = true;
	}
	return true;
}

static bool is_due_alone(void *arg, int index, struct need *ret_need)
{
	struct judgement *judgement = arg;

	return index == judgement->index || (judge_alone(judgement, index, ret_need) &&
					     judgement->world->listeners[index].memo.verdict == VERDICT_REAP);
}

/* The tree that would be signalled. */
static bool look_at_tree(struct judgement *judgement)
{
	int rule = judgement->verdict->rule;

	tree_start(judgement->world, judgement->is_alone ? judgement->request->spare_tree : judgement->request->tree, &judgement->tree);
	judgement->need = tree_add_core(judgement->world, judgement->ruleset, judgement->index, rule, &judgement->tree);
	if (judgement->need.kind == NEED_NOTHING && !judgement->is_alone)
		judgement->need = tree_add_wrappers(judgement->world, judgement->ruleset, judgement->index, rule, &judgement->tree,
						    is_due_alone, judgement);
	tree_sort(judgement->world, &judgement->tree);
	return judgement->need.kind == NEED_NOTHING;
}

static const char *find_marker(const struct process *process)
{
	static const char *const markers[] = { "BUILD_ID=dontKillMe", "JENKINS_NODE_COOKIE=dontKillMe", "RUNNER_TRACKING_ID=" };

	for (const char *token = argv_next(&process->environment, NULL); token; token = argv_next(&process->environment, token)) {
		if (strncmp(token, "LISTENREAP_KEEP=", strlen("LISTENREAP_KEEP=")) == 0)
			return "LISTENREAP_KEEP";
		for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++)
			if (strcmp(token, markers[i]) == 0)
				return markers[i];
	}
	return NULL;
}

/* Remembered: a process may be in the trees of many listeners. */
static const char *opt_out_of(struct process *process)
{
	if (!process->memo.is_environ_read)
		process->memo.opt_out = find_marker(process);
	process->memo.is_environ_read = true;
	return process->memo.opt_out;
}

static enum answer ask_opt_out(struct judgement *judgement, int process)
{
	struct process *subject = process_at(judgement, process);
	const char *marker;

	if (subject->end_boot_ns != 0)
		return PASS;
	if (subject->environ == FACT_NOT_ASKED)
		return ask_for(judgement, NEED_ENVIRON, process);
	if (subject->environ == FACT_UNREADABLE)
		return spare(judgement, REASON_UNREADABLE, process, "its environment");
	marker = opt_out_of(subject);
	return marker ? spare(judgement, REASON_OPT_OUT, process, marker) : PASS;
}

/* 4. Markers in the environment of a holder or of what would be signalled; a keep by hand. */
static enum answer check_opt_out(struct judgement *judgement)
{
	look_at_lineage(judgement);
	if (judgement->listener->is_kept)
		return spare(judgement, REASON_OPT_OUT, NONE, "listenreap keep");
	for_each_holder(judgement, holder) {
		enum answer answer = ask_opt_out(judgement, holder);

		if (answer != PASS)
			return answer;
	}
	if (!judgement->would_be_signalled)
		return PASS;
	if (!look_at_tree(judgement))
		return NEEDS;
	for (int i = 0; i < judgement->tree.count; i++) {
		enum answer answer = ask_opt_out(judgement, judgement->tree.members[i]);

		if (answer != PASS)
			return answer;
	}
	return PASS;
}

/* 5a. Only the users that the rule names. */
static enum answer check_user(struct judgement *judgement)
{
	for_each_holder(judgement, holder) {
		const struct process *subject = process_at(judgement, holder);

		if (subject->details == FACT_NOT_ASKED)
			return ask_for(judgement, NEED_DETAILS, holder);
		if (subject->details == FACT_UNREADABLE)
			return spare(judgement, REASON_UNREADABLE, holder, "its user and cgroup");
		if (subject->is_mixed_uid)
			return spare(judgement, REASON_OTHER_USER, holder, "its real, effective and saved user differ");
		if (!rule_fits_user(judgement->rule, subject->uid))
			return spare(judgement, REASON_OTHER_USER, holder, "the rule is for other users");
	}
	return PASS;
}

/* 5b. The host's namespaces and no container, unless the rule names them. */
static enum answer check_namespace(struct judgement *judgement)
{
	const struct world *world = judgement->world;
	const struct rule *rule = judgement->rule;

	if (!rule->any_netns && judgement->listener->netns != world->host_netns)
		return spare(judgement, REASON_NAMESPACE, NONE, "another network namespace");
	for_each_holder(judgement, holder) {
		const struct process *subject = process_at(judgement, holder);

		if (!rule->any_netns && subject->netns != world->host_netns)
			return spare(judgement, subject->netns ? REASON_NAMESPACE : REASON_UNREADABLE, holder,
				     subject->netns ? "another network namespace" : "its network namespace");
		if (!rule->any_pidns && (subject->is_foreign_pidns || subject->pidns != world->host_pidns))
			return spare(judgement, subject->pidns ? REASON_NAMESPACE : REASON_UNREADABLE, holder,
				     subject->pidns ? "another pid namespace" : "its pid namespace");
		if (!subject->cgroup)
			return spare(judgement, REASON_UNREADABLE, holder, "its cgroup");
		if (rule->cgroup.count == 0 && cgroup_is_container(subject->cgroup))
			return spare(judgement, REASON_NAMESPACE, holder, "a container's cgroup");
	}
	return PASS;
}

/* Agent, or a manager other than pid 1 and `systemd --user`, among the birth ancestors. */
static bool has_keeper_of_jobs(struct judgement *judgement, int process)
{
	struct ancestor above;
	int child = process;

	for (int guard = 0; guard <= judgement->world->process_count && lineage_next(judgement->world, child, &above); guard++) {
		const struct process *ancestor = process_at(judgement, above.elder);
		enum keeper kind = lineage_keeper(judgement->world, judgement->ruleset, above.elder, above.had_tty);

		if (kind == KEEPER_AGENT)
			return true;
		if (kind == KEEPER_MANAGER && ancestor->id.tgid != 1 && !span_equals(ancestor->program.exe, "systemd") &&
		    !span_equals(ancestor->program.argv0, "systemd"))
			return true;
		child = above.elder;
	}
	return false;
}

/* 5c. systemd itself cleans up what a unit should not keep. */
static enum answer check_service(struct judgement *judgement)
{
	for_each_holder(judgement, holder)
		if (cgroup_is_service(process_at(judgement, holder)->cgroup) && !has_keeper_of_jobs(judgement, holder))
			return spare(judgement, REASON_SERVICE, holder, NULL);
	return PASS;
}

/* 6. What the walk says, when the rule wants orphans. */
static enum answer check_lineage(struct judgement *judgement)
{
	const struct verdict *verdict = judgement->verdict;

	if (judgement->would_be_signalled)
		return PASS;
	switch (verdict->walk.lineage) {
	case LINEAGE_OWNED: return spare(judgement, REASON_ANCHOR_ALIVE, verdict->decider, NULL);
	case LINEAGE_DAEMON: return spare(judgement, REASON_DAEMON, verdict->decider, NULL);
	case LINEAGE_OPERATOR: return spare(judgement, REASON_OPERATOR, verdict->decider, NULL);
	default: return spare(judgement, REASON_LINEAGE_UNKNOWN, verdict->decider, NULL);
	}
}

static enum answer ask_protection(struct judgement *judgement, int process)
{
	const struct ruleset *ruleset = judgement->ruleset;
	const struct process *subject = process_at(judgement, process);

	for (size_t i = 0; i < ruleset->protection_count; i++) {
		enum match match = matcher_names_process(&ruleset->protections[i], subject);

		if (match == MATCH_YES)
			return spare(judgement, REASON_PROTECTED, process, ruleset->protections[i].name);
		if (match == MATCH_UNKNOWN && subject->cmdline == FACT_NOT_ASKED)
			return ask_for(judgement, NEED_CMDLINE, process);
		if (match == MATCH_UNKNOWN)
			return spare(judgement, REASON_UNREADABLE, process, "its argv, which a protection asks for");
	}
	return PASS;
}

/* The other listeners of one member: all must be due. One that only waits makes this one wait. */
static enum answer ask_other_listeners(struct judgement *judgement, int process)
{
	struct world *world = judgement->world;

	for (int held = process_at(judgement, process)->first_held; held != NONE; held = world->holders[held].next_held) {
		int other = world->holders[held].listener;
		const struct listener *listener = &world->listeners[other];

		if (other == judgement->index)
			continue;
		if (!judge_alone(judgement, other, &judgement->need))
			return NEEDS;
		if (listener->memo.verdict == VERDICT_SPARE) {
			judgement->verdict->other = other;
			return spare(judgement, REASON_PROTECTED, process, "it holds a listener that is not due");
		}
		if (listener->memo.verdict == VERDICT_WAIT && listener->memo.due_boot_ns > judgement->waits_until_boot_ns) {
			judgement->waits_for = other;
			judgement->waits_until_boot_ns = listener->memo.due_boot_ns;
		}
	}
	return PASS;
}

/* 7. Of the tree that would be signalled: nobody's that must live. */
static enum answer check_tree(struct judgement *judgement)
{
	uint32_t uid = process_at(judgement, judgement->verdict->decider)->uid;

	for (int i = 0; i < judgement->tree.count; i++) {
		int member = judgement->tree.members[i];
		const char *what = floor_of(judgement, member);
		enum answer answer = ask_protection(judgement, member);

		if (answer != PASS)
			return answer;
		if (what)
			return spare(judgement, process_at(judgement, member)->is_self_or_ancestor ? REASON_FLOOR : REASON_PROTECTED,
				     member, what);
		if (!judgement->is_alone) {
			answer = ask_other_listeners(judgement, member);
			if (answer != PASS)
				return answer;
		}
	}
	for (int i = 0; i < judgement->tree.count; i++)
		if (process_at(judgement, judgement->tree.members[i])->uid != uid)
			return spare(judgement, REASON_OTHER_USER, judgement->tree.members[i], "it would be signalled too");
	return PASS;
}

/* 8. Both clocks: since listen(), and since orphaned. Due means at least stale-after. */
static enum answer check_age(struct judgement *judgement)
{
	struct verdict *verdict = judgement->verdict;
	const struct listener *listener = judgement->listener;
	uint64_t stale_after_ns = judgement->rule->stale_after_ns[addr_scope(&listener->address, listener->bound_dev)];
	uint64_t due = listener->opened_boot_ns + stale_after_ns;
	bool is_young = due > judgement->now_boot_ns;

	if (judgement->rule->orphan != RULE_ORPHAN_ANY && verdict->orphaned_boot_ns + stale_after_ns > due)
		due = verdict->orphaned_boot_ns + stale_after_ns;
	if (due <= judgement->now_boot_ns && judgement->waits_for == NONE)
		return PASS;

	enum reason reason = is_young ? REASON_YOUNG : REASON_RECENTLY_ORPHANED;

	if (due <= judgement->now_boot_ns)
		reason = (enum reason)judgement->world->listeners[judgement->waits_for].memo.reason;
	if (judgement->waits_for != NONE && judgement->waits_until_boot_ns > due) {
		due = judgement->waits_until_boot_ns;
		verdict->other = judgement->waits_for;
	}
	verdict->has_due = true;
	verdict->due_boot_ns = due;
	return decide(judgement, VERDICT_WAIT, reason, NONE, NULL);
}

/* 9. Somebody outside the tree is connected, or was within the last minute. */
static enum answer check_use(struct judgement *judgement)
{
	struct traffic traffic;

	if (judgement->world->connection_table == FACT_NOT_ASKED)
		return judgement->rule->in_use == RULE_REAP ? PASS : ask_for(judgement, NEED_CONNECTIONS, NONE);
	if (judgement->world->connection_table == FACT_UNREADABLE)
		return judgement->rule->in_use == RULE_REAP ? PASS : spare(judgement, REASON_IN_USE, NONE, "could not look");

	traffic = traffic_count(judgement->world, judgement->ruleset, judgement->index, &judgement->tree, &judgement->verdict->walk);
	judgement->verdict->connections = traffic.connections;
	judgement->verdict->is_recent_use = traffic.connections == 0 && traffic.has_time_wait;
	if (judgement->rule->in_use == RULE_SPARE && (traffic.connections > 0 || traffic.has_time_wait))
		return spare(judgement, REASON_IN_USE, NONE, NULL);
	return PASS;
}

/* 10a. We stopped the same rule and address just before: somebody restarts it. */
static enum answer check_respawn(struct judgement *judgement)
{
	const struct listener *listener = judgement->listener;
	uint64_t window_ns = RESPAWN_NS;

	if (listener->stop == FACT_NOT_ASKED)
		return ask_for(judgement, NEED_STOP, NONE);
	if (listener->stop == FACT_UNREADABLE)
		return spare(judgement, REASON_UNREADABLE, NONE, "what was stopped before");
	if (!listener->has_stop || listener->stopped_boot_ns > listener->opened_boot_ns)
		return PASS;
	if (!lineage_has_keeper(judgement->world, judgement->ruleset, judgement->verdict->decider, KEEPER_AGENT))
		window_ns = RESPAWN_NO_AGENT_NS;
	return listener->opened_boot_ns - listener->stopped_boot_ns < window_ns ? spare(judgement, REASON_RESPAWNED, NONE, NULL) : PASS;
}

/* 10b. The rule only reports. Asked before the limit, which counts trees that are reaped. */
static enum answer check_action(struct judgement *judgement)
{
	return judgement->rule->action == RULE_REPORT ? spare(judgement, REASON_REPORT_ONLY, NONE, NULL) : PASS;
}

/* 10c. More trees than max-reaps in one sweep are a mistake in a rule. */
static enum answer check_limit(struct judgement *judgement)
{
	if (judgement->is_alone || judgement->world->dues < judgement->ruleset->max_reaps)
		return PASS;
	for (int i = 0; i < judgement->tree.count; i++)
		if (process_at(judgement, judgement->tree.members[i])->memo.is_doomed)
			return PASS;	/* counted with another of its listeners */
	judgement->verdict->has_due = true;
	judgement->verdict->due_boot_ns = judgement->now_boot_ns;
	return decide(judgement, VERDICT_WAIT, REASON_LIMIT, NONE, NULL);
}

static const struct {
	enum step step;
	enum answer (*check)(struct judgement *judgement);
} order[] = {
	{ STEP_HOLDER, check_holder },
	{ STEP_FLOOR, check_floor },
	{ STEP_RULE, check_rule },
	{ STEP_OPT_OUT, check_opt_out },
	{ STEP_USER, check_user },
	{ STEP_NAMESPACE, check_namespace },
	{ STEP_SERVICE, check_service },
	{ STEP_LINEAGE, check_lineage },
	{ STEP_TREE, check_tree },
	{ STEP_AGE, check_age },
	{ STEP_USE, check_use },
	{ STEP_RESPAWN, check_respawn },
	{ STEP_ACTION, check_action },
	{ STEP_LIMIT, check_limit },
};
_Static_assert(sizeof(order) / sizeof(order[0]) == STEP_MAX, "every step is in the order");

static struct need judge(struct judgement *judgement, enum step *ret_step)
{
	judgement->listener = &judgement->world->listeners[judgement->index];
	judgement->waits_for = NONE;
	*judgement->verdict = (struct verdict){
		.kind = VERDICT_SPARE, .rule = NONE, .culprit = NONE, .other = NONE, .decider = NONE, .connections = NONE,
		.orphan = ORPHAN_UNKNOWN, .walk = { .lineage = LINEAGE_UNKNOWN, .anchor = NONE, .broke_at = NONE },
	};
	look_at_lineage(judgement);

	for (size_t i = 0; i < STEP_MAX; i++) {
		enum answer answer = order[i].check(judgement);

		*ret_step = order[i].step;
		if (answer == NEEDS)
			return judgement->need;
		if (answer == DECIDED)
			return (struct need){ .kind = NEED_NOTHING };
	}
	decide(judgement, VERDICT_REAP, REASON_DUE, NONE, NULL);
	return (struct need){ .kind = NEED_NOTHING };
}

struct need policy_judge(const struct policy_request *request, struct verdict *ret, enum step *ret_step, int *ret_tree_count)
{
	struct judgement judgement = {
		.world = request->world, .ruleset = request->ruleset, .now_boot_ns = request->now_boot_ns, .request = request,
		.index = request->listener, .verdict = ret,
	};
	struct need need = judge(&judgement, ret_step);

	*ret_tree_count = judgement.tree.count;
	return need;
}

void policy_count_due(struct world *world, const int *tree, int tree_count)
{
	bool is_counted = false;

	for (int i = 0; i < tree_count; i++) {
		is_counted |= world->processes[tree[i]].memo.is_doomed;
		world->processes[tree[i]].memo.is_doomed = true;
	}
	if (!is_counted)
		world->dues++;
}

uint64_t policy_earliest_due(const struct ruleset *ruleset, const struct listener *listener)
{
	enum scope scope = addr_scope(&listener->address, listener->bound_dev);
	uint64_t shortest_ns = UINT64_MAX;

	for (size_t i = 0; i < ruleset->rule_count; i++)
		if (ruleset->rules[i].action == RULE_KILL && rule_fits_listener(&ruleset->rules[i], listener) &&
		    ruleset->rules[i].stale_after_ns[scope] < shortest_ns)
			shortest_ns = ruleset->rules[i].stale_after_ns[scope];
	return shortest_ns == UINT64_MAX ? UINT64_MAX : listener->opened_boot_ns + shortest_ns;
}
