/* SPDX-License-Identifier: GPL-2.0-only */
/* One sentence for each reason: who, since when, by which rule, until when. */
#include <string.h>
#include "text.h"

#define NAME_SIZE 192

/* What the sentences speak of. */
struct subject {
	const struct world *world;
	const struct ruleset *ruleset;
	const struct verdict *verdict;
	const struct listener *listener;
	const struct rule *rule;	/* NULL none */
	uint64_t now_boot_ns;
	char rule_name[96];
};

static const char *age_of(const struct subject *subject, char buffer[static DURATION_TEXT_SIZE])
{
	return duration_format(text_since(subject->now_boot_ns, subject->listener->opened_boot_ns), buffer);
}

/* Until then, rounded up: never "due in 0s". */
static const char *due_of(const struct subject *subject, char buffer[static DURATION_TEXT_SIZE])
{
	uint64_t left_ns = subject->verdict->has_due ? text_since(subject->verdict->due_boot_ns, subject->now_boot_ns) : 0;

	return duration_format(left_ns ? left_ns + NS_PER_SEC - 1 : 0, buffer);
}

static void say_name(const struct subject *subject, int process, char buffer[static NAME_SIZE])
{
	if (process == NONE)
		snprintf(buffer, NAME_SIZE, "a process");
	else
		text_process(&subject->world->processes[process], buffer, NAME_SIZE);
}

static bool is_holder(const struct subject *subject, int process)
{
	for (int i = 0; i < subject->listener->holder_count; i++)
		if (subject->world->holders[subject->listener->first_holder + i].process == process)
			return true;
	return false;
}

/* ", which would be stopped with it," of one that does not hold the socket itself. */
static const char *if_taken_along(const struct subject *subject)
{
	return is_holder(subject, subject->verdict->culprit) ? "" : ", which would be stopped with it,";
}

/* "its agent claude(812) ended 2h 5m ago": the end of the anchor, and since when it is an orphan when that came later. */
static void say_owner(const struct subject *subject, char *buffer, size_t size)
{
	const struct walk *walk = &subject->verdict->walk;
	uint64_t end = walk->anchor == NONE ? 0 : subject->world->processes[walk->anchor].end_boot_ns;
	char anchor[NAME_SIZE], ended[DURATION_TEXT_SIZE], orphaned[DURATION_TEXT_SIZE];
	const char *before = "", *behind = "";
	bool is_later;

	say_name(subject, walk->anchor, anchor);
	duration_format(text_since(subject->now_boot_ns, end ? end : subject->verdict->orphaned_boot_ns), ended);
	is_later = end != 0 && end + NS_PER_SEC <= subject->verdict->orphaned_boot_ns &&
		   strcmp(ended, duration_format(text_since(subject->now_boot_ns, subject->verdict->orphaned_boot_ns), orphaned)) != 0;
	switch (walk->anchor_kind) {
	case KEEPER_AGENT: before = "its agent "; break;
	case KEEPER_PERSON: behind = ", from which it was started by hand,"; break;
	case KEEPER_SUPERVISOR: before = "its supervisor "; break;
	default:
		if (subject->rule && subject->rule->orphan == RULE_ORPHAN_PARENT)
			before = "its parent ";
		else
			behind = ", the job that started it,";
	}
	snprintf(buffer, size, "%s%s%s ended %s ago%s%s", before, anchor, behind, ended, is_later ? ", and it has been an orphan for " : "",
		 is_later ? orphaned : "");
}

/* Why it would be reaped: the owner's end, or how long it listens when the rule does not ask who owns it. */
static void say_cause(const struct subject *subject, char *buffer, size_t size)
{
	char age[DURATION_TEXT_SIZE];

	if (subject->rule && subject->rule->orphan == RULE_ORPHAN_ANY)
		snprintf(buffer, size, "it has listened for %s and its rule does not ask who owns it", age_of(subject, age));
	else
		say_owner(subject, buffer, size);
}

static void say_due(const struct subject *subject, char *buffer, size_t size)
{
	int connections = subject->verdict->connections;
	char why[2 * NAME_SIZE], use[64] = "";

	say_cause(subject, why, sizeof(why));
	if (connections == 0)
		snprintf(use, sizeof(use), "; nobody uses it");
	else if (connections > 0)
		snprintf(use, sizeof(use), "; %d connection%s, which the rule cuts", connections, connections == 1 ? "" : "s");
	snprintf(buffer, size, "%s%s (rule %s)", why, use, subject->rule_name);
}

static void say_wait(const struct subject *subject, char *buffer, size_t size)
{
	const struct verdict *verdict = subject->verdict;
	char why[2 * NAME_SIZE], age[DURATION_TEXT_SIZE], due[DURATION_TEXT_SIZE];

	due_of(subject, due);
	say_cause(subject, why, sizeof(why));
	if (verdict->other != NONE)
		snprintf(buffer, size, "%s; it waits for port %u of the same tree, and is due in %s if nothing changes (rule %s)", why,
			 subject->world->listeners[verdict->other].port, due, subject->rule_name);
	else if (verdict->reason == REASON_YOUNG && !(subject->rule && subject->rule->orphan == RULE_ORPHAN_ANY))
		snprintf(buffer, size, "%s, but it has listened for only %s; due in %s if nothing changes (rule %s)", why,
			 age_of(subject, age), due, subject->rule_name);
	else
		snprintf(buffer, size, "%s; due in %s if nothing changes (rule %s)", why, due, subject->rule_name);
}

static void say_anchor_alive(const struct subject *subject, char *buffer, size_t size)
{
	char anchor[NAME_SIZE];

	say_name(subject, subject->verdict->walk.anchor, anchor);
	switch (subject->verdict->walk.anchor_kind) {
	case KEEPER_AGENT: snprintf(buffer, size, "its agent %s is alive", anchor); break;
	case KEEPER_PERSON: snprintf(buffer, size, "it was started from %s, which is alive", anchor); break;
	case KEEPER_SUPERVISOR: snprintf(buffer, size, "its supervisor %s is alive", anchor); break;
	case KEEPER_MANAGER: snprintf(buffer, size, "it is a job of %s that still runs", anchor); break;
	default: snprintf(buffer, size, "%s, which it was started under, is alive", anchor); break;
	}
}

static void say_lineage_unknown(const struct subject *subject, char *buffer, size_t size)
{
	int broke_at = subject->verdict->walk.broke_at;
	char broke[NAME_SIZE];

	say_name(subject, broke_at, broke);
	/* The walk never passes a manager: one that it broke at is the parent whose giving birth was not seen. */
	if (broke_at != NONE && rules_keeper_of(subject->ruleset, &subject->world->processes[broke_at], false) == KEEPER_MANAGER)
		snprintf(buffer, size, "its parent was %s when tracking began, but whether that started it or adopted it was not seen", broke);
	else
		snprintf(buffer, size, "who gave birth to %s was not seen: it is older than the tracking", broke);
}

static void say_operator(const struct subject *subject, char *buffer, size_t size)
{
	char anchor[NAME_SIZE], ended[DURATION_TEXT_SIZE];
	const struct walk *walk = &subject->verdict->walk;
	uint64_t end = walk->anchor == NONE ? 0 : subject->world->processes[walk->anchor].end_boot_ns;

	say_name(subject, walk->anchor, anchor);
	duration_format(text_since(subject->now_boot_ns, end ? end : subject->verdict->orphaned_boot_ns), ended);
	snprintf(buffer, size, "an operator's own: %s %s, which ended %s ago",
		 walk->anchor_kind == KEEPER_SUPERVISOR ? "it was run by" : "started by hand from", anchor, ended);
}

static void say_no_rule(const struct subject *subject, char *buffer, size_t size)
{
	const struct listener *listener = subject->listener;
	char command[NAME_SIZE] = "it";
	int holder = subject->verdict->decider;

	if (holder == NONE && listener->holder_count > 0)
		holder = subject->world->holders[listener->first_holder].process;
	if (holder != NONE)
		text_command(&subject->world->processes[holder], command, sizeof(command));
	snprintf(buffer, size, "no rule names %s", command);
}

static bool is_named_protection(const struct subject *subject)
{
	for (size_t i = 0; i < subject->ruleset->protection_count; i++)
		if (subject->ruleset->protections[i].name == subject->verdict->what)
			return true;
	return false;
}

static void say_protected(const struct subject *subject, char *buffer, size_t size)
{
	const struct verdict *verdict = subject->verdict;
	const char *what = verdict->what ? verdict->what : "protected";
	char culprit[NAME_SIZE];

	say_name(subject, verdict->culprit, culprit);
	if (verdict->other != NONE)
		snprintf(buffer, size, "%s%s also holds port %u, which is not due", culprit, if_taken_along(subject),
			 subject->world->listeners[verdict->other].port);
	else if (is_named_protection(subject))
		snprintf(buffer, size, "%s%s is protected by [protect%s%s]", culprit, if_taken_along(subject), *what ? " " : "", what);
	else
		snprintf(buffer, size, "%s%s must live: %s", culprit, if_taken_along(subject), what);
}

static void say_opt_out(const struct subject *subject, char *buffer, size_t size)
{
	const struct verdict *verdict = subject->verdict;
	const char *marker = verdict->what ? verdict->what : "a marker";
	size_t length = strlen(marker);
	bool is_empty = length > 0 && marker[length - 1] == '=';
	char culprit[NAME_SIZE];

	if (verdict->culprit == NONE) {
		snprintf(buffer, size, "port %u is kept by hand (listenreap keep)", subject->listener->port);
		return;
	}
	say_name(subject, verdict->culprit, culprit);
	snprintf(buffer, size, "%s%s asks to be kept: %.*s is set%s in its environment", culprit, if_taken_along(subject),
		 (int)(is_empty ? length - 1 : length), marker, is_empty ? " and empty" : "");
}

static void say_in_use(const struct subject *subject, char *buffer, size_t size)
{
	const struct verdict *verdict = subject->verdict;

	if (verdict->connections == NONE)
		snprintf(buffer, size, "it may be in use: its connections could not be looked at");
	else if (verdict->is_recent_use)
		snprintf(buffer, size, "in use: a client left within the last minute");
	else
		snprintf(buffer, size, "in use: %d connection%s", verdict->connections, verdict->connections == 1 ? "" : "s");
}

static void say_other_user(const struct subject *subject, char *buffer, size_t size)
{
	const struct verdict *verdict = subject->verdict;
	const char *user = verdict->culprit == NONE ? "another user" : text_user(subject->world->processes[verdict->culprit].uid);
	char culprit[NAME_SIZE];

	say_name(subject, verdict->culprit, culprit);
	snprintf(buffer, size, "%s%s runs as %s: %s", culprit, if_taken_along(subject), user,
		 is_holder(subject, verdict->culprit) && verdict->what ? verdict->what : "another user than its server");
}

/* The innermost unit of a cgroup path. */
static void say_service(const struct subject *subject, char *buffer, size_t size)
{
	const struct process *process = subject->verdict->culprit == NONE ? NULL : &subject->world->processes[subject->verdict->culprit];
	const char *end = process && process->cgroup ? strstr(process->cgroup, ".service") : NULL, *start;
	char culprit[NAME_SIZE], unit[NAME_SIZE] = "service";

	for (const char *next = end; next; next = strstr(next + 1, ".service"))
		end = next;
	if (end) {
		for (start = end; start > process->cgroup && start[-1] != '/' && start[-1] != '\n'; start--)
			;
		text_escape(start, (size_t)(end - start) + strlen(".service"), 60, unit, sizeof(unit));
	}
	say_name(subject, subject->verdict->culprit, culprit);
	snprintf(buffer, size, "%s belongs to systemd's %s, which systemd looks after", culprit, unit);
}

static void say_unreadable(const struct subject *subject, char *buffer, size_t size)
{
	const char *what = subject->verdict->what ? subject->verdict->what : "a fact";
	char culprit[NAME_SIZE];

	if (subject->verdict->culprit == NONE) {
		snprintf(buffer, size, "unknown, and so spared: %s", what);
		return;
	}
	say_name(subject, subject->verdict->culprit, culprit);
	snprintf(buffer, size, "unknown, and so spared: %s (%s)", what, culprit);
}

static void say_foreign_holder(const struct subject *subject, char *buffer, size_t size)
{
	char culprit[NAME_SIZE], opener[NAME_SIZE];

	say_name(subject, subject->verdict->culprit, culprit);
	if (subject->listener->opener != NONE)
		say_name(subject, subject->listener->opener, opener);
	else
		text_escape(subject->listener->opener_comm, strlen(subject->listener->opener_comm), 32, opener, sizeof(opener));
	snprintf(buffer, size, "%s holds it too, another program that no rule names%s%s%s", culprit, *opener ? " (" : "", opener,
		 *opener ? " opened it)" : "");
}

static void say_respawned(const struct subject *subject, char *buffer, size_t size)
{
	const struct listener *listener = subject->listener;
	char after[DURATION_TEXT_SIZE], respawner[NAME_SIZE] = "somebody";

	duration_format(text_since(listener->opened_boot_ns, listener->stopped_boot_ns), after);
	if (listener->respawner.tgid) {
		snprintf(respawner, sizeof(respawner), "pid %u", listener->respawner.tgid);
		for (int i = 0; i < subject->world->process_count; i++)
			if (subject->world->processes[i].id.tgid == listener->respawner.tgid &&
			    subject->world->processes[i].id.start_boot_ns == listener->respawner.start_boot_ns)
				say_name(subject, i, respawner);
	}
	snprintf(buffer, size, "it came back %s after it was stopped: %s restarts it", after, respawner);
}

void text_detail(const struct world *world, const struct ruleset *ruleset, const struct verdict *verdict, int listener, uint64_t now_boot_ns,
		 char *buffer, size_t size)
{
	struct subject subject = {
		.world = world, .ruleset = ruleset, .verdict = verdict, .listener = &world->listeners[listener], .now_boot_ns = now_boot_ns,
	};
	char culprit[NAME_SIZE], why[2 * NAME_SIZE];

	if (verdict->rule != NONE) {
		subject.rule = &ruleset->rules[verdict->rule];
		text_escape(subject.rule->matcher.name, strlen(subject.rule->matcher.name), 48, subject.rule_name, sizeof(subject.rule_name));
	}

	switch (verdict->reason) {
	case REASON_DUE: say_due(&subject, buffer, size); break;
	case REASON_YOUNG:
	case REASON_RECENTLY_ORPHANED: say_wait(&subject, buffer, size); break;
	case REASON_ANCHOR_ALIVE: say_anchor_alive(&subject, buffer, size); break;
	case REASON_LINEAGE_UNKNOWN: say_lineage_unknown(&subject, buffer, size); break;
	case REASON_OPERATOR: say_operator(&subject, buffer, size); break;
	case REASON_DAEMON:
		say_name(&subject, verdict->walk.anchor, culprit);
		snprintf(buffer, size, "a daemon under %s: it detached itself, or was started at boot", culprit);
		break;
	case REASON_NO_RULE: say_no_rule(&subject, buffer, size); break;
	case REASON_REPORT_ONLY:
		say_cause(&subject, why, sizeof(why));
		snprintf(buffer, size, "%s, but rule %s only reports", why, subject.rule_name);
		break;
	case REASON_PROTECTED: say_protected(&subject, buffer, size); break;
	case REASON_FLOOR:
		say_name(&subject, verdict->culprit, culprit);
		snprintf(buffer, size, "%s is never touched: %s", culprit, verdict->what ? verdict->what : "");
		break;
	case REASON_OPT_OUT: say_opt_out(&subject, buffer, size); break;
	case REASON_IN_USE: say_in_use(&subject, buffer, size); break;
	case REASON_OTHER_USER: say_other_user(&subject, buffer, size); break;
	case REASON_NAMESPACE: snprintf(buffer, size, "it lives in %s", verdict->what ? verdict->what : "another namespace"); break;
	case REASON_SERVICE: say_service(&subject, buffer, size); break;
	case REASON_NO_HOLDER: snprintf(buffer, size, "nobody holds it any more"); break;
	case REASON_UNREADABLE: say_unreadable(&subject, buffer, size); break;
	case REASON_FOREIGN_HOLDER: say_foreign_holder(&subject, buffer, size); break;
	case REASON_RESPAWNED: say_respawned(&subject, buffer, size); break;
	case REASON_LIMIT:
		snprintf(buffer, size, "due, but max-reaps = %u trees are already due in this sweep (rule %s)", ruleset->max_reaps, subject.rule_name);
		break;
	case REASON_MAX: snprintf(buffer, size, "?"); break;
	}
}
