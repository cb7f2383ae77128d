/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "explain.h"
#include "json.h"
#include "text.h"

#define STEPS_MAX 128
#define LINE_SIZE 1024

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
	struct walk_step steps[STEPS_MAX];
	int count;
};

static void walk_holder(const struct status_frame *frame, const struct verdict *verdict, int holder, struct chain *ret)
{
	struct walk walk;

	lineage_walk(observation_world(frame->observation), frame->ruleset, holder, verdict->rule, &walk, ret->steps, STEPS_MAX, &ret->count);
	if (ret->count > STEPS_MAX)
		ret->count = STEPS_MAX;
}

/* Why the walk went on, or what it answered. */
static const char *why_step(const struct walk_step *step)
{
	if (step->is_answer)
		return "the anchor: it answers";
	if (step->is_same_rule)
		return "skipped: the same rule names it";
	switch (step->kind) {
	case KEEPER_WRAPPER: return "skipped: a wrapper";
	case KEEPER_SCRIPT: return "skipped: a script";
	case KEEPER_AGENT: return "skipped: a sub-agent, an agent above it is alive";
	case KEEPER_PERSON:
	case KEEPER_SUPERVISOR: return "skipped: an agent is among its own ancestors";
	default: return "skipped: it has ended";
	}
}

static void say_state(const struct status_frame *frame, const struct process *process, bool is_alive, char *text, size_t size)
{
	char ended[DURATION_TEXT_SIZE];

	if (is_alive || process->end_boot_ns == 0)
		snprintf(text, size, "alive");
	else
		snprintf(text, size, "ended %s ago", duration_format(frame->now_boot_ns - process->end_boot_ns, ended));
}

/* The first condition of a rule that one process does not meet. */
static const char *failed_condition(const struct status_frame *frame, const struct status_row *row, const struct rule *rule, int holder)
{
	const struct world *world = observation_world(frame->observation);
	const struct process *process = &world->processes[holder];
	struct matcher part = rule->matcher;

	if (!rule_fits_listener(rule, &world->listeners[row->listener]))
		return "port or scope";
	part.script.count = part.argv_count = part.with.count = part.without.count = 0;
	if (matcher_fits_process(&part, process) != MATCH_YES)
		return "program";
	part.script = rule->matcher.script;
	if (matcher_fits_process(&part, process) != MATCH_YES)
		return "script";
	part.argv_count = rule->matcher.argv_count;
	if (matcher_fits_process(&part, process) != MATCH_YES)
		return "argv";
	part.with = rule->matcher.with;
	if (matcher_fits_process(&part, process) != MATCH_YES)
		return "with";
	if (matcher_fits_process(&rule->matcher, process) != MATCH_YES)
		return "without";
	if (rule->born_of.count && !lineage_is_born_of(world, holder, &rule->born_of))
		return "born-of";
	if (row->verdict.rule >= 0 && rule == &frame->ruleset->rules[row->verdict.rule])
		return NULL;
	if (rule->anchor_kinds)
		return "anchor";
	if (rule->cgroup.count)
		return "cgroup";
	return rule->env_count ? "env" : NULL;
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

static void find_misspelt(const struct status_frame *frame, const struct listener *listener, char *text, size_t size)
{
	const struct world *world = observation_world(frame->observation);

	text[0] = '\0';
	for (int i = 0; i < listener->holder_count; i++) {
		const struct process *holder = &world->processes[world->holders[listener->first_holder + i].process];

		for (const char *variable = argv_next(&holder->environment, NULL); variable && !*text;
		     variable = argv_next(&holder->environment, variable)) {
			size_t length = strcspn(variable, "=");

			if (is_misspelt_marker(variable, length))
				text_escape(variable, length, 60, text, size);
		}
	}
}

/* What would change the verdict. */
static const char *advice(const struct verdict *verdict)
{
	switch (verdict->reason) {
	case REASON_DUE: return "LISTENREAP_KEEP in its environment when it is started, or `listenreap keep :PORT`, spares it";
	case REASON_YOUNG:
	case REASON_RECENTLY_ORPHANED: return "time; a client, or `listenreap keep :PORT`, spares it";
	case REASON_ANCHOR_ALIVE: return "the end of that owner; if an agent in the chain was not taken for one, add its name to [agents]";
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

/* The facts that a step looked at; empty where the question says it all. */
static void say_facts(const struct status_frame *frame, const struct status_row *row, enum step step, int tree_count, char *text, size_t size)
{
	const struct world *world = observation_world(frame->observation);
	const struct listener *listener = &world->listeners[row->listener];
	const struct verdict *verdict = &row->verdict;
	const struct rule *rule = verdict->rule == NONE ? NULL : &frame->ruleset->rules[verdict->rule];
	const struct process *holder = &world->processes[world->holders[listener->first_holder].process];
	char one[DURATION_TEXT_SIZE], two[DURATION_TEXT_SIZE], three[DURATION_TEXT_SIZE], name[160];
	uint64_t now = frame->now_boot_ns;

	text[0] = '\0';
	switch (step) {
	case STEP_HOLDER:
		snprintf(text, size, "%d holder%s", listener->holder_count, listener->holder_count == 1 ? "" : "s");
		break;
	case STEP_RULE:
		if (rule)
			text_escape(rule->matcher.name, strlen(rule->matcher.name), 48, text, size);
		break;
	case STEP_USER:
		snprintf(text, size, "%s", text_user(holder->uid));
		break;
	case STEP_NAMESPACE:
		snprintf(text, size, "network namespace %u, the host's is %u", listener->netns, world->host_netns);
		break;
	case STEP_SERVICE:
		if (holder->cgroup)
			text_escape(holder->cgroup, strcspn(holder->cgroup, "\n"), 60, text, size);
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
		duration_format(now - listener->opened_boot_ns, one);
		duration_format(rule->stale_after_ns[addr_scope(&listener->address, listener->bound_dev)], two);
		if (verdict->has_orphaned)
			snprintf(text, size, "listening %s, orphaned %s, stale after %s", one, duration_format(now - verdict->orphaned_boot_ns, three), two);
		else
			snprintf(text, size, "listening %s, stale after %s", one, two);
		break;
	case STEP_USE:
		if (verdict->connections != NONE)
			snprintf(text, size, "%d connection%s%s", verdict->connections, verdict->connections == 1 ? "" : "s",
				 verdict->is_recent_use ? ", one that left within the last minute" : "");
		break;
	case STEP_ACTION:
		if (rule)
			snprintf(text, size, "action = %s", rule_action_names[rule->action]);
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
		fprintf(out, "  born of %-28s %-10s %-18s %s\n", name, keeper_names[step->kind], state, why_step(step));
	}
	if (chain.count == 0 || !chain.steps[chain.count - 1].is_answer)
		fputs("  who gave birth to that was not seen\n", out);
}

static void print_argv(const struct process *process, FILE *out)
{
	char text[256];

	for (const char *token = argv_next(&process->argv, NULL); token; token = argv_next(&process->argv, token)) {
		text_escape(token, strlen(token), 60, text, sizeof(text));
		fprintf(out, " %s", text);
	}
	fputs(process->argv.is_cut ? " ...\n" : "\n", out);
}

void explain_print(const struct status_frame *frame, const struct status_row *row, enum step step, const int *tree, int tree_count, FILE *out)
{
	const struct world *world = observation_world(frame->observation);
	const struct listener *listener = &world->listeners[row->listener];
	const struct verdict *verdict = &row->verdict;
	char address[ADDR_TEXT_SIZE], age[DURATION_TEXT_SIZE], detail[LINE_SIZE], name[160], marker[256], facts[256];
	bool is_past = false;

	text_detail(world, frame->ruleset, verdict, row->listener, frame->now_boot_ns, detail, sizeof(detail));
	fprintf(out, "%s  %s %s, %s, listening for %s%s\n", addr_format_port(&listener->address, listener->port, address),
		listener->protocol == 262 ? "mptcp" : "tcp", listener->address.family == AF_INET6 ? "ipv6" : "ipv4",
		scope_names[addr_scope(&listener->address, listener->bound_dev)], listener->is_age_exact ? "" : "at least ",
		duration_format(frame->now_boot_ns - listener->opened_boot_ns, age));
	fprintf(out, "%s (%s): %s\n\nwho holds it, and who gave birth to that\n", verdict_names[verdict->kind], reason_names[verdict->reason], detail);
	for (int i = 0; i < listener->holder_count; i++) {
		int holder = world->holders[listener->first_holder + i].process;

		print_chain(frame, row, holder, out);
		fputs("  argv:", out);
		print_argv(&world->processes[holder], out);
	}

	fputs("\nwhat was asked, in order\n", out);
	for (int i = 0; i < STEP_MAX; i++) {
		bool decides = (int)step == i && !(verdict->reason == REASON_DUE);

		say_facts(frame, row, (enum step)i, tree_count, facts, sizeof(facts));
		if (is_past || !*facts)
			fprintf(out, "  %-8s %-10s %s\n", is_past ? "-" : decides ? "DECIDES" : "yes", step_names[i], questions[i]);
		else
			fprintf(out, "  %-8s %-10s %-62s %s\n", decides ? "DECIDES" : "yes", step_names[i], questions[i], facts);
		is_past |= decides;
	}

	fputs("\nrules\n", out);
	for (size_t i = 0; i < frame->ruleset->rule_count; i++) {
		int holder = world->holders[listener->first_holder].process;
		const char *failed = failed_condition(frame, row, &frame->ruleset->rules[i], holder);

		text_escape(frame->ruleset->rules[i].matcher.name, strlen(frame->ruleset->rules[i].matcher.name), 48, name, sizeof(name));
		if ((int)i == verdict->rule)
			fprintf(out, "  %-28s matches%s\n", name, failed ? " through its opener" : "");
		else
			fprintf(out, "  %-28s %s%s\n", name, failed ? "not: its " : "matches too, after the first", failed ? failed : "");
	}

	if (tree_count > 0)
		fputs("\nwhat would be signalled, eldest first\n", out);
	for (int i = 0; i < tree_count; i++) {
		text_process(&world->processes[tree[i]], name, sizeof(name));
		fprintf(out, "  %s\n", name);
	}
	find_misspelt(frame, listener, marker, sizeof(marker));
	if (*marker)
		fprintf(out, "\nnote: %s is set in its environment; the marker is spelt LISTENREAP_KEEP\n", marker);
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
						json_object_new_double((double)(frame->now_boot_ns - process->end_boot_ns) / (double)NS_PER_SEC));
			json_object_object_add(step, "why", json_string(why_step(&chain.steps[j])));
			json_object_array_add(steps, step);
		}
		json_object_object_add(object, "holder", json_object_new_int64(world->processes[holder].id.tgid));
		json_object_object_add(object, "ancestors", steps);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *json_checks(const struct status_frame *frame, const struct status_row *row, enum step step, int tree_count)
{
	struct json_object *array = json_object_new_array();
	bool is_past = false;
	char facts[256];

	for (int i = 0; i < STEP_MAX; i++) {
		struct json_object *object = json_object_new_object();
		bool decides = (int)step == i && row->verdict.reason != REASON_DUE;

		say_facts(frame, row, (enum step)i, tree_count, facts, sizeof(facts));
		json_object_object_add(object, "step", json_string(step_names[i]));
		json_object_object_add(object, "asks", json_string(questions[i]));
		json_object_object_add(object, "facts", is_past || !*facts ? NULL : json_string(facts));
		json_object_object_add(object, "result", json_string(is_past ? "not reached" : decides ? "decided" : "passed"));
		json_object_array_add(array, object);
		is_past |= decides;
	}
	return array;
}

static struct json_object *json_rules(const struct status_frame *frame, const struct status_row *row)
{
	const struct world *world = observation_world(frame->observation);
	int holder = world->holders[world->listeners[row->listener].first_holder].process;
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < frame->ruleset->rule_count; i++) {
		struct json_object *object = json_object_new_object();
		bool is_match = (int)i == row->verdict.rule;
		const char *failed = is_match ? NULL : failed_condition(frame, row, &frame->ruleset->rules[i], holder);

		json_object_object_add(object, "name", json_string(frame->ruleset->rules[i].matcher.name));
		json_object_object_add(object, "matched", json_object_new_boolean(is_match));
		json_object_object_add(object, "failed", json_string(failed));
		json_object_array_add(array, object);
	}
	return array;
}

void explain_print_json(const struct status_frame *frame, const struct status_row *row, enum step step, const int *tree, int tree_count, FILE *out)
{
	const struct world *world = observation_world(frame->observation);
	const struct listener *listener = &world->listeners[row->listener];
	struct json_object *object = json_object_new_object(), *members = json_object_new_array();
	char detail[LINE_SIZE], marker[256];

	text_detail(world, frame->ruleset, &row->verdict, row->listener, frame->now_boot_ns, detail, sizeof(detail));
	find_misspelt(frame, listener, marker, sizeof(marker));
	for (int i = 0; i < tree_count; i++)
		json_object_array_add(members, json_object_new_int64(world->processes[tree[i]].id.tgid));
	json_object_object_add(object, "schema", json_object_new_int(1));
	json_object_object_add(object, "verdict", json_string(verdict_names[row->verdict.kind]));
	json_object_object_add(object, "reason", json_string(reason_names[row->verdict.reason]));
	json_object_object_add(object, "detail", json_string(detail));
	json_object_object_add(object, "advice", json_string(advice(&row->verdict)));
	json_object_object_add(object, "misspelt_marker", *marker ? json_string(marker) : NULL);
	json_object_object_add(object, "listener", json_listener(frame, row));
	json_object_object_add(object, "checks", json_checks(frame, row, step, tree_count));
	json_object_object_add(object, "rules", json_rules(frame, row));
	json_object_object_add(object, "chain", json_chain(frame, row));
	json_object_object_add(object, "tree", members);
	json_write(object, out);
	fputc('\n', out);
}
