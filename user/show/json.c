/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include "../observe/proc.h"
#include "json.h"
#include "text.h"

#define SCHEMA 1

struct json_object *json_text(const char *bytes, size_t length)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *text = malloc(length * 3 + 1);
	struct json_object *object;
	size_t used = 0;

	if (!text)
		return NULL;
	for (size_t at = 0; at < length;) {
		uint32_t point;
		int step = text_decode(bytes + at, length - at, &point);
		size_t size = step < 0 ? 3 : (size_t)step;

		memcpy(text + used, step < 0 ? replacement : bytes + at, size);
		used += size;
		at += (size_t)(step < 0 ? -step : step);
	}
	object = json_object_new_string_len(text, (int)used);
	free(text);
	return object;
}

struct json_object *json_string(const char *text)
{
	return text ? json_text(text, strlen(text)) : NULL;
}

static void add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add_ex(object, key, value, JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_ADD_CONSTANT_KEY);
}

static struct json_object *json_count(uint64_t value)
{
	return json_object_new_int64(value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

struct json_object *json_seconds(uint64_t ns)
{
	char text[40];

	snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, ns / NS_PER_SEC, ns % NS_PER_SEC / 1000000);
	return json_object_new_double_s((double)ns / (double)NS_PER_SEC, text);
}

static struct json_object *json_argv(const struct argv *argv)
{
	struct json_object *array = json_object_new_array();

	for (const char *token = argv_next(argv, NULL); token; token = argv_next(argv, token))
		json_object_array_add(array, json_string(token));
	return array;
}

static struct json_object *json_cgroup(const char *lines)
{
	struct span path = text_cgroup(lines);

	return path.start ? json_text(path.start, path.length) : NULL;
}

/* An opener that was not recorded lives if it is among the holders. */
static bool is_opener_alive(const struct world *world, const struct listener *listener)
{
	if (listener->opener != NONE)
		return world->processes[listener->opener].end_boot_ns == 0;
	for (int i = 0; i < listener->holder_count && listener->opener_id.tgid; i++) {
		const struct process *holder = &world->processes[world->holders[listener->first_holder + i].process];

		if (holder->id.tgid == listener->opener_id.tgid && holder->id.start_boot_ns == listener->opener_id.start_boot_ns)
			return holder->end_boot_ns == 0;
	}
	return false;
}

static struct json_object *json_opener(const struct world *world, const struct listener *listener)
{
	struct json_object *object = json_object_new_object();
	const struct process *opener = listener->opener != NONE ? &world->processes[listener->opener] : NULL;
	struct argv none = { 0 };

	add(object, "pid", json_object_new_int64(listener->opener_id.tgid));
	add(object, "comm", json_string(opener ? opener->comm : listener->opener_comm));
	add(object, "argv", json_argv(opener ? &opener->argv : &none));
	add(object, "uid", json_object_new_int64(listener->opener_uid));
	add(object, "alive", json_object_new_boolean(is_opener_alive(world, listener)));
	return object;
}

static struct json_object *json_holder(const struct process *holder)
{
	struct json_object *object = json_object_new_object();

	add(object, "pid", json_object_new_int64(holder->id.tgid));
	add(object, "start", json_count(proc_ticks(holder->id.start_boot_ns)));
	add(object, "comm", json_string(holder->comm_now ? holder->comm_now : holder->comm));
	add(object, "exe", json_string(holder->exe_path));
	add(object, "argv", json_argv(&holder->argv));
	add(object, "argv_cut", json_object_new_boolean(holder->argv.is_cut));
	add(object, "uid", json_object_new_int64(holder->uid));
	add(object, "user", json_string(text_user(holder->uid)));
	add(object, "cgroup", json_cgroup(holder->cgroup));
	return object;
}

static struct json_object *json_anchor(const struct world *world, const struct walk *walk)
{
	struct json_object *object;
	enum keeper kind = walk->anchor_kind;

	if (walk->anchor == NONE)
		return NULL;
	if (kind == KEEPER_WRAPPER || kind == KEEPER_SCRIPT)
		kind = KEEPER_NONE;
	object = json_object_new_object();
	add(object, "pid", json_object_new_int64(world->processes[walk->anchor].id.tgid));
	add(object, "comm", json_string(world->processes[walk->anchor].comm));
	add(object, "kind", json_string(keeper_names[kind]));
	add(object, "alive", json_object_new_boolean(walk->is_anchor_alive));
	return object;
}

/* contract.md: the larger of stale-after minus age and, when the rule wants orphans, stale-after minus orphaned. */
static struct json_object *json_due(const struct status_frame *frame, const struct verdict *verdict)
{
	if (verdict->kind != VERDICT_WAIT)
		return NULL;
	return json_seconds(text_since(verdict->due_boot_ns, frame->now_boot_ns));
}

struct json_object *json_listener(const struct status_frame *frame, const struct status_row *row)
{
	const struct world *world = observation_world(frame->observation);
	const struct listener *listener = &world->listeners[row->listener];
	const struct verdict *verdict = &row->verdict;
	struct json_object *object = json_object_new_object(), *holders = json_object_new_array();
	uint64_t now = frame->now_boot_ns;
	char address[ADDR_TEXT_SIZE], detail[DETAIL_SIZE];

	add(object, "protocol", json_string(listener->protocol == 262 ? "mptcp" : "tcp"));
	add(object, "family", json_string(listener->address.family == AF_INET6 ? "ipv6" : "ipv4"));
	add(object, "address", json_string(addr_format(&listener->address, address)));
	add(object, "port", json_object_new_int(listener->port));
	add(object, "scope", json_string(scope_names[addr_scope(&listener->address, listener->bound_dev)]));
	add(object, "netns", json_object_new_int64(listener->netns));
	add(object, "inode", json_count(listener->inode));
	add(object, "age_s", json_seconds(listener->opened_boot_ns ? text_since(now, listener->opened_boot_ns) : 0));
	add(object, "age_exact", json_object_new_boolean(listener->is_age_exact));
	add(object, "opener", json_opener(world, listener));
	for (int i = 0; i < listener->holder_count; i++)
		json_object_array_add(holders, json_holder(&world->processes[world->holders[listener->first_holder + i].process]));
	add(object, "holders", holders);
	add(object, "anchor", json_anchor(world, &verdict->walk));
	add(object, "orphan", json_string(orphan_names[verdict->orphan]));
	add(object, "orphaned_s", verdict->has_orphaned ? json_seconds(text_since(now, verdict->orphaned_boot_ns)) : NULL);
	add(object, "connections", verdict->connections == NONE ? NULL : json_object_new_int(verdict->connections));
	add(object, "verdict", json_string(verdict_names[verdict->kind]));
	add(object, "reason", json_string(reason_names[verdict->reason]));
	text_detail(world, frame->ruleset, verdict, row->listener, now, detail, sizeof(detail));
	add(object, "detail", json_string(detail));
	add(object, "rule", verdict->rule == NONE ? NULL : json_string(frame->ruleset->rules[verdict->rule].matcher.name));
	add(object, "due_s", json_due(frame, verdict));
	return object;
}

static struct json_object *json_signals(const struct act *act)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < sizeof(act->signal_order) / sizeof(act->signal_order[0]) && act->signal_order[i]; i++) {
		const char *name = sigabbrev_np(act->signal_order[i]);

		json_object_array_add(array, json_string(name ? name : "?"));
	}
	return array;
}

static struct json_object *json_act_anchor(const struct act *act)
{
	struct json_object *object;

	if (!act->anchor.tgid)
		return NULL;
	object = json_object_new_object();
	add(object, "pid", json_object_new_int64(act->anchor.tgid));
	add(object, "comm", json_text(act->anchor_comm, strnlen(act->anchor_comm, sizeof(act->anchor_comm))));
	return object;
}

struct json_object *json_act(const struct act *act)
{
	struct json_object *object = json_object_new_object();
	char address[ADDR_TEXT_SIZE];

	add(object, "pid", json_object_new_int64(act->pid.tgid));
	add(object, "start", json_count(proc_ticks(act->pid.start_boot_ns)));
	add(object, "comm", json_text(act->comm, strnlen(act->comm, sizeof(act->comm))));
	add(object, "uid", json_object_new_int64(act->uid));
	add(object, "address", json_string(addr_format(&act->address, address)));
	add(object, "port", json_object_new_int(act->port));
	add(object, "scope", json_string(scope_names[act->scope]));
	add(object, "netns", json_object_new_int64(act->netns));
	add(object, "inode", json_count(act->inode));
	add(object, "rule", json_string(act->rule));
	add(object, "age_s", json_seconds(act->age_ns));
	add(object, "orphaned_s", act->orphaned_ns ? json_seconds(act->orphaned_ns) : NULL);
	add(object, "anchor", json_act_anchor(act));
	add(object, "argv", json_text(act->argv, strnlen(act->argv, sizeof(act->argv))));
	add(object, "outcome", json_string(outcome_names[act->outcome]));
	add(object, "why", *act->why ? json_string(act->why) : NULL);
	add(object, "signals", json_signals(act));
	add(object, "processes", json_object_new_int(act->tree_size));
	add(object, "took_ms", json_object_new_int64((int64_t)(act->took_ns / 1000000)));
	return object;
}

void json_write(struct json_object *object, FILE *out)
{
	fputs(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE), out);
	json_object_put(object);
}

/* RFC 3339. */
static void write_time(uint64_t real_s, char text[static 40])
{
	time_t seconds = (time_t)real_s;
	struct tm moment;

	gmtime_r(&seconds, &moment);
	strftime(text, 40, "%Y-%m-%dT%H:%M:%SZ", &moment);
}

static struct json_object *json_missed(const struct tracking_status *tracking)
{
	static const char *const names[] = {
		[COUNTER_BIRTHS_FULL] = "births_full", [COUNTER_STORAGE_FAILED] = "storage_failed",
		[COUNTER_UNRECORDED_PARENT] = "unrecorded_parent", [COUNTER_CASCADE_CUT] = "cascade_cut",
	};
	struct json_object *object = json_object_new_object();

	_Static_assert(sizeof(names) / sizeof(names[0]) == COUNTER_MAX, "every counter has a name");
	for (int i = 0; i < COUNTER_MAX; i++)
		add(object, names[i], json_count(tracking->counters[i]));
	add(object, "recursion", json_count(tracking->recursion_misses));
	return object;
}

void status_print_json(const struct status_frame *frame, const struct status_row *rows, int count, const struct act *acts, int act_count,
		       FILE *out)
{
	const struct tracking_status *tracking = frame->tracking;
	char since[40];

	/* Listener by listener: nothing is collected. */
	write_time(tracking->since_real_s, since);
	fprintf(out, "{\"schema\":%d,\"version\":\"%s\",\"hook\":\"%s\",\"tracking_since\":\"%s\",\"dropped\":%" PRIu64 ",\"missed\":", SCHEMA, VERSION,
		tracking->hook == HOOK_FEXIT ? "fexit" : "tracepoint", since,
		tracking->counters[COUNTER_BIRTHS_FULL] + tracking->counters[COUNTER_STORAGE_FAILED]);
	json_write(json_missed(tracking), out);
	fprintf(out, ",\"mode\":\"%s\",\"listeners\":[", frame->ruleset->is_observe ? "observe" : "enforce");
	for (int i = 0; i < count; i++) {
		if (i > 0)
			fputc(',', out);
		json_write(json_listener(frame, &rows[i]), out);
	}
	fputc(']', out);
	if (act_count >= 0) {
		fputs(",\"actions\":[", out);
		for (int i = 0; i < act_count; i++) {
			if (i > 0)
				fputc(',', out);
			json_write(json_act(&acts[i]), out);
		}
		fputc(']', out);
	}
	fputs("}\n", out);
}
