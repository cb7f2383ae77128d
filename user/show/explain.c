/* SPDX-License-Identifier: GPL-2.0-only */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include "explain.h"
#include "json.h"
#include "text.h"

#define STEPS_MAX 128
#define ARGV_SHOWN 1024	/* bytes of a command line */

/* What each step asks, in the order of judgement. */
static const char *const questions[STEP_MAX] = {
	[STEP_HOLDER] = "does a live process hold it, and is its record readable?",
	[STEP_FLOOR] = "is no holder one that is never touched?",
	[STEP_RULE] = "does a rule name it, and everybody who holds it?",
	[STEP_OPT_OUT] = "does nobody ask to be kept?",
	[STEP_USER] = "is it run by a user that the rule is for?",
	[STEP_NAMESPACE] = "is it in the host's namespaces and no container?",
	[STEP_SERVICE] = "is it left to us and not to systemd?",
	[STEP_LINEAGE] = "has its owner ended?",
	[STEP_TREE] = "does nobody that must live go with it?",
	[STEP_AGE] = "has it listened, and been orphaned, for long enough?",
	[STEP_USE] = "does nobody use it?",
	[STEP_RESPAWN] = "is it not started again and again?",
	[STEP_ACTION] = "does the rule stop, and not only report?",
	[STEP_LIMIT] = "are there fewer than max-reaps trees in this sweep?",
};

struct chain {
	struct walk walk;
	struct walk_step steps[STEPS_MAX];
	int count;
};

static void walk_holder(const struct status_frame *frame, const struct verdict *verdict, int holder, struct chain *ret)
{
	lineage_walk(observation_world(frame->observation), frame->ruleset, holder, verdict->rule, &ret->walk, ret->steps, STEPS_MAX, &ret->count);
	if (ret->count > STEPS_MAX)
		ret->count = STEPS_MAX;
}

/* What an ancestor that answers says. */
static const char *answer_of(const struct walk *walk, const struct walk_step *step)
{
	switch (walk->lineage) {
	case LINEAGE_OWNED:
		return step->kind == KEEPER_MANAGER ? "decides: its job still runs" : "decides: the anchor, alive";
	case LINEAGE_ORPHAN:
		return step->kind == KEEPER_MANAGER ? "decides: the job below it has ended, an orphan" : "decides: the anchor, ended, an orphan";
	case LINEAGE_OPERATOR: return "decides: the anchor, ended, an operator's own";
	case LINEAGE_DAEMON: return "decides: a daemon";
	default: return "decides: unknown, that it gave birth was not seen";
	}
}

/* Why the walk went on, or what it answered. */
static const char *why_step(const struct walk *walk, const struct walk_step *step)
{
	if (step->is_answer)
		return answer_of(walk, step);
	if (step->is_same_rule)
		return "looked through: the same server";
	switch (step->kind) {
	case KEEPER_WRAPPER: return "looked through: a wrapper";
	case KEEPER_SCRIPT: return "looked through: a script";
	case KEEPER_AGENT: return "looked through: a sub-agent, an agent above it is alive";
	case KEEPER_PERSON:
	case KEEPER_SUPERVISOR: return "looked through: an agent is among its own ancestors";
	default: return "looked through: it has ended and is in no list";
	}
}

static void say_state(const struct status_frame *frame, const struct process *process, bool is_alive, char *text, size_t size)
{
	char ended[DURATION_TEXT_SIZE];

	if (is_alive || process->end_boot_ns == 0)
		snprintf(text, size, "alive");
	else
		snprintf(text, size, "ended %s ago", duration_format(text_since(frame->now_boot_ns, process->end_boot_ns), ended));
}

/* What a rule asks for, in the order in which it is looked at here. */
enum condition {
	CONDITION_LISTENER, CONDITION_PROGRAM, CONDITION_SCRIPT, CONDITION_ARGV, CONDITION_WITH, CONDITION_WITHOUT, CONDITION_BORN_OF,
	CONDITION_ANCHOR, CONDITION_CGROUP, CONDITION_ENV, CONDITION_MAX	/* all are met */
};
static const char *const condition_names[CONDITION_MAX] = {
	[CONDITION_LISTENER] = "port or scope", [CONDITION_PROGRAM] = "program", [CONDITION_SCRIPT] = "script", [CONDITION_ARGV] = "argv",
	[CONDITION_WITH] = "with", [CONDITION_WITHOUT] = "without", [CONDITION_BORN_OF] = "born-of", [CONDITION_ANCHOR] = "anchor",
	[CONDITION_CGROUP] = "cgroup", [CONDITION_ENV] = "env",
};

/* The first of those that lie in the process itself: the same matcher with one condition more each time. */
static enum condition failed_in_process(const struct world *world, const struct rule *rule, int process)
{
	const struct process *subject = &world->processes[process];
	struct matcher part = rule->matcher;

	if (lineage_fits_rule(world, rule, process) == MATCH_YES)
		return CONDITION_BORN_OF;
	part.script.count = part.argv_count = part.with.count = part.without.count = 0;
	if (matcher_fits_process(&part, subject) != MATCH_YES)
		return CONDITION_PROGRAM;
	part.script = rule->matcher.script;
	if (matcher_fits_process(&part, subject) != MATCH_YES)
		return CONDITION_SCRIPT;
	part.argv_count = rule->matcher.argv_count;
	if (matcher_fits_process(&part, subject) != MATCH_YES)
		return CONDITION_ARGV;
	part.with = rule->matcher.with;
	return matcher_fits_process(&part, subject) != MATCH_YES ? CONDITION_WITH : CONDITION_WITHOUT;
}

static bool fits_anchor(const struct status_frame *frame, int rule, int holder)
{
	struct world *world = observation_world(frame->observation);
	struct walk walk;
	enum keeper kind;

	lineage_walk_for_rule(world, frame->ruleset, holder, rule, &walk);
	kind = walk.anchor_kind == KEEPER_WRAPPER || walk.anchor_kind == KEEPER_SCRIPT ? KEEPER_NONE : walk.anchor_kind;
	return walk.anchor != NONE && (frame->ruleset->rules[rule].anchor_kinds & 1u << kind);
}

/* The first condition that this holder does not meet, or of which it is not known that it does. opener: one that all holders were born of. */
static enum condition failed_at_holder(const struct status_frame *frame, int rule_index, int holder, int opener)
{
	const struct rule *rule = &frame->ruleset->rules[rule_index];
	const struct world *world = observation_world(frame->observation);
	const struct process *process = &world->processes[holder];
	enum condition failed = failed_in_process(world, rule, holder);

	if (failed < CONDITION_BORN_OF && opener != NONE && failed_in_process(world, rule, opener) > failed)
		failed = failed_in_process(world, rule, opener);
	if (failed < CONDITION_BORN_OF)
		return failed;
	if (rule->born_of.count > 0 && !lineage_is_born_of(world, holder, &rule->born_of))
		return CONDITION_BORN_OF;
	if (rule->anchor_kinds != 0 && !fits_anchor(frame, rule_index, holder))
		return CONDITION_ANCHOR;
	if (rule->cgroup.count > 0 && !(process->cgroup && rule_fits_cgroup(rule, process->cgroup)))
		return CONDITION_CGROUP;
	return rule->env_count > 0 && rule_fits_environment(rule, process) != MATCH_YES ? CONDITION_ENV : CONDITION_MAX;
}

/* Of the holder that comes nearest to the rule. */
static enum condition failed_condition(const struct status_frame *frame, const struct status_row *row, int rule)
{
	const struct world *world = observation_world(frame->observation);
	const struct listener *listener = &world->listeners[row->listener];
	enum condition furthest = CONDITION_PROGRAM;
	int opener = listener->opener;

	if (row->verdict.rule == rule)
		return CONDITION_MAX;
	if (!rule_fits_listener(&frame->ruleset->rules[rule], listener))
		return CONDITION_LISTENER;
	for (int i = 0; i < listener->holder_count && opener != NONE; i++)
		if (!lineage_descends_from(world, world->holders[listener->first_holder + i].process, opener))
			opener = NONE;
	for (int i = 0; i < listener->holder_count; i++) {
		enum condition failed = failed_at_holder(frame, rule, world->holders[listener->first_holder + i].process, opener);

		if (failed > furthest)
			furthest = failed;
	}
	return furthest;
}

/* Names of markers that look like ours and are not; never their values. */
static bool is_misspelt_marker(const char *variable, size_t length)
{
	static const char *const right[] = { "LISTENREAP_KEEP", "JENKINS_NODE_COOKIE", "RUNNER_TRACKING_ID" };

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		size_t wanted = strlen(right[i]), common = 0, tail = 0, shorter = length < wanted ? length : wanted;

		if (length == wanted && memcmp(variable, right[i], length) == 0)
			return false;
		while (common < shorter && variable[common] == right[i][common])
			common++;
		while (tail < shorter - common && variable[length - 1 - tail] == right[i][wanted - 1 - tail])
			tail++;
		/* One letter more, less or other; or ours with another ending. */
		if (common + tail + 1 >= wanted && length <= wanted + 1 && length + 1 >= wanted)
			return true;
	}
	return length > 10 && memcmp(variable, "LISTENREAP", 10) == 0;
}

/* dontKillMe is meant for somebody: in a variable that nobody reads it was misspelt. */
static bool is_misspelt(const char *variable, size_t length)
{
	const char *value = variable[length] ? variable + length + 1 : "";

	if (strcasecmp(value, "dontKillMe") == 0) {
		bool is_name_right = (length == 8 && memcmp(variable, "BUILD_ID", 8) == 0) ||
				     (length == 19 && memcmp(variable, "JENKINS_NODE_COOKIE", 19) == 0);

		return !is_name_right || strcmp(value, "dontKillMe") != 0;
	}
	return is_misspelt_marker(variable, length);
}

static void find_misspelt_of(const struct process *process, char *text, size_t size)
{
	for (const char *variable = argv_next(&process->environment, NULL); variable && !*text;
	     variable = argv_next(&process->environment, variable)) {
		size_t length = strcspn(variable, "=");

		if (is_misspelt(variable, length))
			text_escape(variable, length, 60, text, size);
	}
}

/* In the environments that were read: of holders and of what would be signalled. */
static void find_misspelt(const struct status_frame *frame, const struct listener *listener, const int *tree, int tree_count, char *text,
			  size_t size)
{
	const struct world *world = observation_world(frame->observation);

	text[0] = '\0';
	for (int i = 0; i < listener->holder_count; i++)
		find_misspelt_of(&world->processes[world->holders[listener->first_holder + i].process], text, size);
	for (int i = 0; i < tree_count; i++)
		find_misspelt_of(&world->processes[tree[i]], text, size);
}

/* The last program in no list that the walk looked through or ended at: if it is an agent, [agents] should have its name. NONE: there is none. */
static int find_unlisted(const struct status_frame *frame, const struct status_row *row)
{
	const struct world *world = observation_world(frame->observation);
	const struct listener *listener = &world->listeners[row->listener];
	int unlisted = NONE;
	struct chain chain;

	if (row->verdict.walk.lineage == LINEAGE_ORPHAN)
		return NONE;
	for (int i = 0; i < listener->holder_count; i++) {
		walk_holder(frame, &row->verdict, world->holders[listener->first_holder + i].process, &chain);
		for (int j = 0; j < chain.count; j++)
			if (chain.steps[j].kind == KEEPER_NONE && !chain.steps[j].is_same_rule &&
			    (!chain.steps[j].is_alive || chain.steps[j].is_answer))
				unlisted = chain.steps[j].process;
	}
	return unlisted;
}

/* What would change the verdict. */
static const char *advice(const struct verdict *verdict)
{
	switch (verdict->reason) {
	case REASON_DUE: return "LISTENREAP_KEEP in its environment when it is started, or `listenreap keep :PORT`, spares it";
	case REASON_YOUNG:
	case REASON_RECENTLY_ORPHANED: return "time; a client, or `listenreap keep :PORT`, spares it";
	case REASON_ANCHOR_ALIVE: return "the end of that owner";
	case REASON_LINEAGE_UNKNOWN: return "tracking that is loaded before it is started: load at boot";
	case REASON_OPERATOR: return "`operator = reap` in the rule";
	case REASON_DAEMON: return "a rule with `orphan = any`";
	case REASON_NO_RULE: return "a rule that names it";
	case REASON_REPORT_ONLY: return "`action = kill` in the rule";
	case REASON_PROTECTED: return "the end of what is protected, or of the listener that is not due";
	case REASON_FLOOR: return "nothing";
	case REASON_OPT_OUT: return "a start without the marker, or `listenreap keep --remove :PORT`";
	case REASON_IN_USE: return "a minute without a client, or `in-use = reap` in the rule";
	case REASON_OTHER_USER: return "`user` in the rule; a tree of several users is always spared";
	case REASON_NAMESPACE: return "`netns = any`, `pidns = any` or a `cgroup` in the rule";
	case REASON_SERVICE: return "nothing here: stop the unit";
	case REASON_UNREADABLE: return "whatever hides it: hidepid, a security module, missing privileges";
	case REASON_FOREIGN_HOLDER: return "the other program closing the descriptor, or a rule that names it";
	case REASON_RESPAWNED: return "stopping whoever starts it again";
	case REASON_LIMIT: return "the next sweep, or a larger max-reaps";
	default: return "nothing";
	}
}

static int count_environments(const struct world *world, const struct listener *listener, const int *tree, int tree_count)
{
	int known = 0;

	for (int i = 0; i < tree_count; i++)
		known += world->processes[tree[i]].environ == FACT_KNOWN;
	for (int i = 0; i < listener->holder_count && tree_count == 0; i++)
		known += world->processes[world->holders[listener->first_holder + i].process].environ == FACT_KNOWN;
	return known;
}

/* The facts that a step looked at; empty where the question says it all. */
static void say_facts(const struct status_frame *frame, const struct status_row *row, enum step step, const int *tree, int tree_count, char *text,
		      size_t size)
{
	const struct world *world = observation_world(frame->observation);
	const struct listener *listener = &world->listeners[row->listener];
	const struct verdict *verdict = &row->verdict;
	const struct rule *rule = verdict->rule == NONE ? NULL : &frame->ruleset->rules[verdict->rule];
	const struct process *holder = listener->holder_count ? &world->processes[world->holders[listener->first_holder].process] : NULL;
	char one[DURATION_TEXT_SIZE], two[DURATION_TEXT_SIZE], three[DURATION_TEXT_SIZE], name[160];
	uint64_t now = frame->now_boot_ns;

	text[0] = '\0';
	switch (step) {
	case STEP_HOLDER:
		snprintf(text, size, "%d holder%s", listener->holder_count, listener->holder_count == 1 ? "" : "s");
		break;
	case STEP_FLOOR:
		if (holder)
			text_process(holder, text, size);
		break;
	case STEP_OPT_OUT:
		snprintf(text, size, "%d environment%s read", count_environments(world, listener, tree, tree_count),
			 count_environments(world, listener, tree, tree_count) == 1 ? "" : "s");
		break;
	case STEP_RULE:
		if (rule)
			text_escape(rule->matcher.name, strlen(rule->matcher.name), 48, text, size);
		break;
	case STEP_USER:
		if (holder)
			snprintf(text, size, "%s", text_user(holder->uid));
		break;
	case STEP_NAMESPACE:
		snprintf(text, size, "network namespace %u, the host's is %u", listener->netns, world->host_netns);
		break;
	case STEP_SERVICE:
		if (holder && holder->cgroup)
			text_escape(text_cgroup(holder->cgroup).start, text_cgroup(holder->cgroup).length, 60, text, size);
		break;
	case STEP_LINEAGE:
		if (verdict->walk.anchor == NONE)
			break;
		text_process(&world->processes[verdict->walk.anchor], name, sizeof(name));
		say_state(frame, &world->processes[verdict->walk.anchor], verdict->walk.is_anchor_alive, one, sizeof(one));
		snprintf(text, size, "%s %s", name, one);
		break;
	case STEP_TREE:
		if (tree_count > 0)
			snprintf(text, size, "%d process%s", tree_count, tree_count == 1 ? "" : "es");
		break;
	case STEP_AGE:
		if (!rule)
			break;
		duration_format(text_since(now, listener->opened_boot_ns), one);
		duration_format(rule->stale_after_ns[addr_scope(&listener->address, listener->bound_dev)], two);
		if (verdict->has_orphaned)
			snprintf(text, size, "listening %s, orphaned %s, stale after %s", one, duration_format(text_since(now, verdict->orphaned_boot_ns), three), two);
		else
			snprintf(text, size, "listening %s, stale after %s", one, two);
		break;
	case STEP_USE:
		if (verdict->connections != NONE)
			snprintf(text, size, "%d connection%s%s", verdict->connections, verdict->connections == 1 ? "" : "s",
				 verdict->is_recent_use ? ", one that left within the last minute" : "");
		break;
	case STEP_RESPAWN:
		if (listener->has_stop && listener->stop == FACT_KNOWN)
			snprintf(text, size, "stopped %s ago, listening again since %s",
				 duration_format(text_since(now, listener->stopped_boot_ns), one),
				 duration_format(text_since(now, listener->opened_boot_ns), two));
		break;
	case STEP_ACTION:
		if (rule)
			snprintf(text, size, "action = %s, signal = %s, grace = %s", rule_action_names[rule->action],
				 sigabbrev_np(rule->signal) ? sigabbrev_np(rule->signal) : "?", duration_format(rule->grace_ns, one));
		break;
	case STEP_LIMIT:
		snprintf(text, size, "max-reaps = %u", frame->ruleset->max_reaps);
		break;
	default:
		break;
	}
}

static void print_chain(const struct status_frame *frame, const struct status_row *row, int holder, FILE *out)
{
	const struct world *world = observation_world(frame->observation);
	char name[160], state[64];
	struct chain chain;

	walk_holder(frame, &row->verdict, holder, &chain);
	text_process(&world->processes[holder], name, sizeof(name));
	fprintf(out, "  %s holds it\n", name);
	for (int i = 0; i < chain.count; i++) {
		const struct walk_step *step = &chain.steps[i];

		text_process(&world->processes[step->process], name, sizeof(name));
		say_state(frame, &world->processes[step->process], step->is_alive, state, sizeof(state));
		fprintf(out, "  born of %-32s %-10s %-18s %s\n", name, keeper_names[step->kind], state, why_step(&chain.walk, step));
	}
	if (chain.count == 0 || !chain.steps[chain.count - 1].is_answer)
		fputs("  who gave birth to that was not seen\n", out);
}

static void print_argv(const struct process *process, FILE *out)
{
	size_t shown = 0;
	char text[256];

	for (const char *token = argv_next(&process->argv, NULL); token; token = argv_next(&process->argv, token)) {
		shown += text_escape(token, strlen(token), 60, text, sizeof(text)) + 1;
		if (shown > ARGV_SHOWN) {
			fputs(" ...\n", out);
			return;
		}
		fprintf(out, strpbrk(text, " '\"") || !*text ? " '%s'" : " %s", text);
	}
	fputs(process->argv.is_cut ? " ...\n" : process->argv.is_known ? "\n" : " not known\n", out);
}

/* Rules that want another program are told together; the others each with the condition that is not met. */
static void print_rules(const struct status_frame *frame, const struct status_row *row, FILE *out)
{
	size_t width = frame->columns > 40 ? (size_t)frame->columns : 120, used = 0;
	int others = 0;
	char name[160];

	fputs("\nrules, in order\n", out);
	for (int i = 0; i < (int)frame->ruleset->rule_count; i++) {
		const char *rule = frame->ruleset->rules[i].matcher.name;
		enum condition failed = failed_condition(frame, row, i);

		others += failed == CONDITION_PROGRAM;
		if (failed == CONDITION_PROGRAM)
			continue;
		text_escape(rule, strlen(rule), 48, name, sizeof(name));
		if (i == row->verdict.rule)
			fprintf(out, "  %-28s matches, and is the first that does\n", name);
		else if (failed == CONDITION_MAX)
			fprintf(out, "  %-28s %s\n", name, row->verdict.rule == NONE ? "matches, but was not asked" : "matches too, behind the first");
		else
			fprintf(out, "  %-28s does not: its %s\n", name, condition_names[failed]);
	}
	if (others == 0)
		return;
	fprintf(out, "  %d for other programs:", others);
	used = 25;
	for (int i = 0; i < (int)frame->ruleset->rule_count; i++) {
		const char *rule = frame->ruleset->rules[i].matcher.name;

		if (failed_condition(frame, row, i) != CONDITION_PROGRAM)
			continue;
		text_escape(rule, strlen(rule), 48, name, sizeof(name));
		others--;
		if (used + text_columns(name) + 2 > width) {
			fputs("\n   ", out);
			used = 3;
		}
		used += text_columns(name) + 2;
		fprintf(out, " %s%s", name, others ? "," : "\n");
	}
}

/* A worker like the holder before it. */
static bool is_twin(const struct world *world, const struct listener *listener, int holder)
{
	const struct process *process = &world->processes[world->holders[listener->first_holder + holder].process];
	const struct process *before = &world->processes[world->holders[listener->first_holder + holder - 1].process];

	return process->birth_parent != NONE && process->birth_parent == before->birth_parent && program_is_same(&process->program, &before->program);
}

static void print_notes(const struct status_frame *frame, const struct status_row *row, const int *tree, int tree_count, FILE *out)
{
	const struct world *world = observation_world(frame->observation);
	int unlisted = find_unlisted(frame, row);
	char marker[256], name[160];

	find_misspelt(frame, &world->listeners[row->listener], tree, tree_count, marker, sizeof(marker));
	if (*marker)
		fprintf(out, "\nnote: %s is set in its environment and is no marker. Those are LISTENREAP_KEEP, BUILD_ID=dontKillMe,\n"
			"      JENKINS_NODE_COOKIE=dontKillMe and an empty RUNNER_TRACKING_ID\n", marker);
	if (unlisted != NONE) {
		text_process(&world->processes[unlisted], name, sizeof(name));
		fprintf(out, "\nnote: %s is in no list. If it is an agent, add its name to [agents]: then what it leaves behind is an orphan\n", name);
	}
}

void explain_print(const struct status_frame *frame, const struct status_row *row, enum step step, const int *tree, int tree_count, FILE *out)
{
	const struct world *world = observation_world(frame->observation);
	const struct listener *listener = &world->listeners[row->listener];
	const struct verdict *verdict = &row->verdict;
	char address[ADDR_TEXT_SIZE], age[DURATION_TEXT_SIZE], detail[DETAIL_SIZE], name[160], facts[256];
	bool is_past = false;

	text_detail(world, frame->ruleset, verdict, row->listener, frame->now_boot_ns, detail, sizeof(detail));
	duration_format(text_since(frame->now_boot_ns, listener->opened_boot_ns), age);
	fprintf(out, "%s  %s %s, %s, listening for %s%s\n", addr_format_port(&listener->address, listener->port, address),
		listener->protocol == 262 ? "mptcp" : "tcp", listener->address.family == AF_INET6 ? "ipv6" : "ipv4",
		scope_names[addr_scope(&listener->address, listener->bound_dev)],
		listener->is_age_exact ? "" : listener->opened_boot_ns ? "at least " : "a time that is not known",
		listener->opened_boot_ns ? age : "");
	fprintf(out, "%s (%s): %s\n\nwho holds it, and who gave birth to that\n", verdict_names[verdict->kind], reason_names[verdict->reason], detail);
	for (int i = 0; i < listener->holder_count; i++) {
		int holder = world->holders[listener->first_holder + i].process;

		if (i > 0 && is_twin(world, listener, i)) {
			text_process(&world->processes[holder], name, sizeof(name));
			fprintf(out, "  %s holds it too, born of the same\n", name);
			continue;
		}
		print_chain(frame, row, holder, out);
		fputs("  argv:", out);
		print_argv(&world->processes[holder], out);
	}

	fputs("\nwhat was asked, in order\n", out);
	for (int i = 0; i < STEP_MAX; i++) {
		bool decides = (int)step == i && !(verdict->reason == REASON_DUE);

		say_facts(frame, row, (enum step)i, tree, tree_count, facts, sizeof(facts));
		if (is_past || !*facts)
			fprintf(out, "  %-8s %-10s %s\n", is_past ? "-" : decides ? "DECIDES" : "yes", step_names[i], questions[i]);
		else
			fprintf(out, "  %-8s %-10s %-62s %s\n", decides ? "DECIDES" : "yes", step_names[i], questions[i], facts);
		is_past |= decides;
	}

	print_rules(frame, row, out);
	if (tree_count > 0)
		fputs("\nwhat would be signalled, eldest first\n", out);
	for (int i = 0; i < tree_count; i++) {
		text_process(&world->processes[tree[i]], name, sizeof(name));
		fprintf(out, "  %s\n", name);
	}
	print_notes(frame, row, tree, tree_count, out);
	fprintf(out, "\nwhat would change this: %s\n", advice(verdict));
}

static struct json_object *json_chain(const struct status_frame *frame, const struct status_row *row)
{
	const struct world *world = observation_world(frame->observation);
	const struct listener *listener = &world->listeners[row->listener];
	struct json_object *array = json_object_new_array();

	for (int i = 0; i < listener->holder_count; i++) {
		int holder = world->holders[listener->first_holder + i].process;
		struct json_object *object = json_object_new_object(), *steps = json_object_new_array();
		struct chain chain;

		walk_holder(frame, &row->verdict, holder, &chain);
		for (int j = 0; j < chain.count; j++) {
			const struct process *process = &world->processes[chain.steps[j].process];
			struct json_object *step = json_object_new_object();

			json_object_object_add(step, "pid", json_object_new_int64(process->id.tgid));
			json_object_object_add(step, "comm", json_string(process->comm));
			json_object_object_add(step, "kind", json_string(keeper_names[chain.steps[j].kind]));
			json_object_object_add(step, "alive", json_object_new_boolean(chain.steps[j].is_alive));
			json_object_object_add(step, "ended_s", chain.steps[j].is_alive || !process->end_boot_ns ? NULL :
						json_seconds(text_since(frame->now_boot_ns, process->end_boot_ns)));
			json_object_object_add(step, "why", json_string(why_step(&chain.walk, &chain.steps[j])));
			json_object_array_add(steps, step);
		}
		json_object_object_add(object, "holder", json_object_new_int64(world->processes[holder].id.tgid));
		json_object_object_add(object, "ancestors", steps);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *json_checks(const struct status_frame *frame, const struct status_row *row, enum step step, const int *tree, int tree_count)
{
	struct json_object *array = json_object_new_array();
	bool is_past = false;
	char facts[256];

	for (int i = 0; i < STEP_MAX; i++) {
		struct json_object *object = json_object_new_object();
		bool decides = (int)step == i && row->verdict.reason != REASON_DUE;

		say_facts(frame, row, (enum step)i, tree, tree_count, facts, sizeof(facts));
		json_object_object_add(object, "step", json_string(step_names[i]));
		json_object_object_add(object, "asks", json_string(questions[i]));
		json_object_object_add(object, "detail", is_past || !*facts ? NULL : json_string(facts));
		json_object_object_add(object, "result", json_string(is_past ? "not reached" : decides ? "decided" : "passed"));
		json_object_array_add(array, object);
		is_past |= decides;
	}
	return array;
}

static struct json_object *json_rules(const struct status_frame *frame, const struct status_row *row)
{
	struct json_object *array = json_object_new_array();

	for (int i = 0; i < (int)frame->ruleset->rule_count; i++) {
		struct json_object *object = json_object_new_object();
		enum condition failed = failed_condition(frame, row, i);

		json_object_object_add(object, "name", json_string(frame->ruleset->rules[i].matcher.name));
		json_object_object_add(object, "matched", json_object_new_boolean(i == row->verdict.rule));
		json_object_object_add(object, "failed", failed == CONDITION_MAX ? NULL : json_string(condition_names[failed]));
		json_object_array_add(array, object);
	}
	return array;
}

void explain_print_json(const struct status_frame *frame, const struct status_row *row, enum step step, const int *tree, int tree_count, FILE *out)
{
	const struct world *world = observation_world(frame->observation);
	const struct listener *listener = &world->listeners[row->listener];
	struct json_object *object = json_object_new_object(), *members = json_object_new_array();
	char detail[DETAIL_SIZE], marker[256];
	int unlisted = find_unlisted(frame, row);

	text_detail(world, frame->ruleset, &row->verdict, row->listener, frame->now_boot_ns, detail, sizeof(detail));
	find_misspelt(frame, listener, tree, tree_count, marker, sizeof(marker));
	for (int i = 0; i < tree_count; i++)
		json_object_array_add(members, json_object_new_int64(world->processes[tree[i]].id.tgid));
	json_object_object_add(object, "schema", json_object_new_int(1));
	json_object_object_add(object, "verdict", json_string(verdict_names[row->verdict.kind]));
	json_object_object_add(object, "reason", json_string(reason_names[row->verdict.reason]));
	json_object_object_add(object, "detail", json_string(detail));
	json_object_object_add(object, "advice", json_string(advice(&row->verdict)));
	json_object_object_add(object, "misspelt_marker", *marker ? json_string(marker) : NULL);
	json_object_object_add(object, "unlisted", unlisted == NONE ? NULL : json_string(world->processes[unlisted].comm));
	json_object_object_add(object, "listener", json_listener(frame, row));
	json_object_object_add(object, "checks", json_checks(frame, row, step, tree, tree_count));
	json_object_object_add(object, "rules", json_rules(frame, row));
	json_object_object_add(object, "chain", json_chain(frame, row));
	json_object_object_add(object, "tree", members);
	json_write(object, out);
	fputc('\n', out);
}
