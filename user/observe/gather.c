/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "observed.h"
#include "proc.h"

#define PROTOCOL_MPTCP 262	/* IPPROTO_MPTCP */

/* What was read from /proc moves into the arena; NULL: no memory. */
static char *adopt(struct observation *observation, char *bytes, size_t length)
{
	char *copy = arena_copy(&observation->arena, bytes, length);

	free(bytes);
	return copy;
}

/* Is the pid still this process? -ESRCH: it has ended, and is known to have from now on. */
static int check_still(struct observation *observation, struct process *process)
{
	struct proc_stat stat;
	pid_t tid;
	int err = proc_read_stat(observation->proc_fd, (pid_t)process->id.tgid, &stat);

	if (err == 0 && stat.start_ticks != proc_ticks(process->id.start_boot_ns))
		err = -ESRCH;
	if (err == 0 && (stat.state == 'Z' || stat.state == 'X'))
		err = proc_live_thread(observation->proc_fd, (pid_t)process->id.tgid, &tid);
	if (err == -ESRCH && process->end_boot_ns == 0)
		process->end_boot_ns = observation->boot_ns;
	return err;
}

static const char *basename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* -ENOMEM ends the sweep; every other failure makes the fact unreadable. */
static enum fact_state state_of(int err)
{
	return err < 0 ? FACT_UNREADABLE : FACT_KNOWN;
}

static int read_details(struct observation *observation, struct process *process)
{
	pid_t pid = (pid_t)process->id.tgid;
	struct proc_ids ids;
	uint32_t netns;
	bool is_deleted;
	char *bytes;
	size_t length;
	int err = check_still(observation, process);

	if (err == 0)
		err = proc_read_ids(observation->proc_fd, pid, &ids);
	if (err < 0)
		return err;
	process->uid = ids.euid;
	process->is_mixed_uid = ids.ruid != ids.euid || ids.suid != ids.euid;
	proc_read_namespaces(observation->proc_fd, pid, &process->pidns, &netns);
	if (netns)
		process->netns = netns;
	err = proc_read_cgroup(observation->proc_fd, pid, &bytes, &length);
	if (err == 0 && !(process->cgroup = adopt(observation, bytes, length)))
		return -ENOMEM;
	if (err == -ENOMEM)
		return err;
	err = proc_read_exe(observation->proc_fd, pid, &bytes, &is_deleted);
	if (err == 0 && !(process->exe_path = adopt(observation, bytes, strlen(bytes))))
		return -ENOMEM;
	if (err == -ENOMEM)
		return err;
	if (!process->exe && process->exe_path) {
		process->exe = basename_of(process->exe_path);
		observed_identify(process);
	}
	/* All of that was this process's, if it still is. */
	return check_still(observation, process);
}

static int gather_details(struct observation *observation, struct process *process)
{
	int err = process->end_boot_ns ? -ESRCH : read_details(observation, process);

	if (err == -ENOMEM)
		return err;
	process->details = state_of(err);
	return 0;
}

static int gather_environ(struct observation *observation, struct process *process)
{
	size_t length = 0;
	char *bytes;
	int err = check_still(observation, process);

	if (err == 0)
		err = proc_read_environ(observation->proc_fd, (pid_t)process->id.tgid, &bytes, &length);
	if (err == 0) {
		bytes = adopt(observation, bytes, length);
		if (!bytes)
			return -ENOMEM;
		process->environment = (struct argv){ .bytes = bytes, .length = length, .is_known = true };
		err = check_still(observation, process);
	}
	if (err == -ENOMEM)
		return err;
	process->environ = state_of(err);
	return 0;
}

/* A command line that was rewritten since exec is no completion of what was recorded. */
static bool completes(const struct argv *recorded, const char *bytes, size_t length)
{
	return length > 0 && (!recorded->is_known || (length >= recorded->length && memcmp(bytes, recorded->bytes, recorded->length) == 0));
}

static int gather_cmdline(struct observation *observation, struct process *process)
{
	size_t length = 0;
	char *bytes;
	int err = process->end_boot_ns ? -ESRCH : check_still(observation, process);

	if (err == 0)
		err = proc_read_cmdline(observation->proc_fd, (pid_t)process->id.tgid, &bytes, &length);
	if (err == 0) {
		bytes = adopt(observation, bytes, length);
		if (!bytes)
			return -ENOMEM;
		err = completes(&process->argv, bytes, length) ? check_still(observation, process) : -EBADMSG;
	}
	if (err == -ENOMEM)
		return err;
	if (err == 0) {
		process->argv = (struct argv){ .bytes = bytes, .length = length, .is_known = true };
		observed_identify(process);
	}
	process->cmdline = state_of(err);
	return 0;
}

/* The process table as read, before it is known which part of it matters. */
struct table {
	struct process_record *records;
	int count, room;
	int *first_child, *next_sibling;	/* by record */
};

static int take_process(const struct process_record *record, void *arg)
{
	struct table *table = arg;
	int err = observed_grow((void **)&table->records, table->count, &table->room, sizeof(*record));

	if (err == 0)
		table->records[table->count++] = *record;
	return err;
}

static int compare_records(const void *a, const void *b)
{
	const struct process_id *first = &((const struct process_record *)a)->self, *second = &((const struct process_record *)b)->self;

	if (first->tgid != second->tgid)
		return first->tgid < second->tgid ? -1 : 1;
	return first->start_boot_ns < second->start_boot_ns ? -1 : first->start_boot_ns > second->start_boot_ns;
}

static int find_record(const struct table *table, struct process_id id)
{
	struct process_record wanted = { .self = id };
	const struct process_record *found = bsearch(&wanted, table->records, (size_t)table->count, sizeof(wanted), compare_records);

	return found ? (int)(found - table->records) : NONE;
}

static int link_table(struct table *table)
{
	table->first_child = malloc(((size_t)table->count + 1) * sizeof(int));
	table->next_sibling = malloc(((size_t)table->count + 1) * sizeof(int));
	if (!table->first_child || !table->next_sibling)
		return -ENOMEM;
	qsort(table->records, (size_t)table->count, sizeof(*table->records), compare_records);
	for (int i = 0; i < table->count; i++)
		table->first_child[i] = table->next_sibling[i] = NONE;
	for (int i = 0; i < table->count; i++) {
		int parent = find_record(table, table->records[i].parent);

		if (parent == NONE || parent == i)
			continue;
		table->next_sibling[i] = table->first_child[parent];
		table->first_child[parent] = i;
	}
	return 0;
}

static int enter_record(struct observation *observation, const struct process_record *record, struct process *process)
{
	process->is_in_table = true;
	process->uid = record->euid;
	if (record->tty)
		process->tty = record->tty;
	process->is_kthread = record->flags & PROCESS_KTHREAD;
	process->is_ns_init = record->flags & PROCESS_NS_INIT;
	process->is_stopped = record->flags & PROCESS_STOPPED;
	process->is_foreign_pidns = record->flags & PROCESS_FOREIGN_PIDNS;
	process->is_mixed_uid = record->ruid != record->euid || record->suid != record->euid;
	process->netns = record->netns;
	if (!process->is_recorded && !*process->comm) {
		process->comm = arena_copy(&observation->arena, record->comm, strnlen(record->comm, sizeof(record->comm)));
		if (!process->comm)
			return -ENOMEM;
		observed_identify(process);
	}
	return 0;
}

/*
 * Enters every live process that the world has, and the present children of these, and theirs. Not those of pid 1: that would be everything,
 * and no tree goes through it. The world grows while this walks along it.
 */
static int enter_table(struct observation *observation, const struct table *table)
{
	struct world *world = &observation->world;

	for (int i = 0; i < world->process_count; i++) {
		int at = world->processes[i].end_boot_ns == 0 ? find_record(table, world->processes[i].id) : NONE, err;

		if (at == NONE) {
			/* Its end was missed, or has come since its birth entry was read. */
			if (world->processes[i].end_boot_ns == 0)
				world->processes[i].end_boot_ns = observation->boot_ns;
			continue;
		}
		err = enter_record(observation, &table->records[at], &world->processes[i]);
		if (err < 0)
			return err;
		if (world->processes[i].id.tgid == 1)
			continue;
		for (int child = table->first_child[at]; child != NONE; child = table->next_sibling[child]) {
			int process;

			err = observation_add(observation, table->records[child].self, &process);
			if (err < 0)
				return err;
			world->processes[process].parent_now = i;
			world->processes[process].next_sibling = world->processes[i].first_child;
			world->processes[i].first_child = process;
		}
	}
	return 0;
}

static int gather_processes(struct observation *observation)
{
	struct table table = { 0 };
	struct failure failure;
	int err = tracker_read_processes(observation->tracker, take_process, &table, &failure);

	if (err == 0)
		err = link_table(&table);
	if (err == 0)
		err = enter_table(observation, &table);
	free(table.records);
	free(table.first_child);
	free(table.next_sibling);
	if (err == -ENOMEM)
		return err;
	observation->world.process_table = state_of(err);
	return 0;
}

/* Ports on which something listens: connections that touch none of them do not matter. */
struct ports {
	struct observation *observation;
	uint8_t bits[65536 / 8];
};

static bool has_port(const struct ports *ports, uint16_t port)
{
	return ports->bits[port / 8] & 1u << port % 8;
}

static int find_queue(const struct world *world, uint64_t inode)
{
	for (int i = 0; i < world->listener_count; i++)
		if (world->listeners[i].inode == inode)
			return i;
	return NONE;
}

static int take_connection(const struct connection_record *record, void *arg)
{
	struct ports *ports = arg;
	struct observation *observation = ports->observation;
	struct world *world = &observation->world;
	struct connection connection = {
		.holder = NONE, .queue = NONE, .netns = record->netns, .local_port = record->local_port, .remote_port = record->remote_port,
		.local.family = record->family, .remote.family = record->family,
	};
	int err = 0;

	if (!has_port(ports, record->local_port) && !has_port(ports, record->remote_port))
		return 0;
	memcpy(connection.local.bytes, record->local, sizeof(connection.local.bytes));
	memcpy(connection.remote.bytes, record->remote, sizeof(connection.remote.bytes));
	if (record->listener_inode)
		connection.queue = find_queue(world, record->listener_inode);
	else
		err = observation_add(observation, record->holder, &connection.holder);
	if (err == 0)
		err = observed_grow((void **)&world->connections, world->connection_count, &observation->connection_room, sizeof(connection));
	if (err == 0 && (!record->listener_inode || connection.queue != NONE))
		world->connections[world->connection_count++] = connection;
	return err;
}

struct in_namespace {
	struct ports *ports;
	uint32_t netns;
};

static int take_time_wait(struct observation *observation, const struct proc_tcp *tcp, uint32_t netns)
{
	struct world *world = &observation->world;
	int err = observed_grow((void **)&world->time_waits, world->time_wait_count, &observation->time_wait_room, sizeof(*world->time_waits));

	if (err == 0)
		world->time_waits[world->time_wait_count++] = (struct time_wait){ netns, tcp->local, tcp->local_port };
	return err;
}

/* Which of several MPTCP twins has it in its queue cannot be told: it counts for each. */
static int take_queued(struct observation *observation, const struct proc_tcp *tcp, uint32_t netns)
{
	struct world *world = &observation->world;

	for (int i = 0; i < world->listener_count; i++) {
		const struct listener *listener = &world->listeners[i];
		int err;

		if (listener->protocol != PROTOCOL_MPTCP || listener->netns != netns || listener->port != tcp->local_port ||
		    !addr_accepts(&listener->address, listener->is_v6only, &tcp->local))
			continue;
		err = observed_grow((void **)&world->connections, world->connection_count, &observation->connection_room, sizeof(*world->connections));
		if (err < 0)
			return err;
		world->connections[world->connection_count++] = (struct connection){
			.holder = NONE, .queue = i, .netns = netns, .local = tcp->local, .remote = tcp->remote, .local_port = tcp->local_port,
			.remote_port = tcp->remote_port,
		};
	}
	return 0;
}

static int take_tcp(const struct proc_tcp *tcp, void *arg)
{
	const struct in_namespace *in = arg;

	if (!has_port(in->ports, tcp->local_port))
		return 0;
	if (tcp->state == PROC_TCP_TIME_WAIT)
		return take_time_wait(in->ports->observation, tcp, in->netns);
	if (tcp->state == PROC_TCP_ESTABLISHED && tcp->inode == 0)
		return take_queued(in->ports->observation, tcp, in->netns);
	return 0;
}

/* -ENOENT: not of that namespace. */
static int read_tcp_through(struct observation *observation, pid_t pid, struct in_namespace *in)
{
	uint32_t pidns, found;
	int err = proc_read_namespaces(observation->proc_fd, pid, &pidns, &found);

	if (err < 0)
		return err;
	return found == in->netns ? proc_read_tcp(observation->proc_fd, pid, take_tcp, in) : -ENOENT;
}

/* Somebody who lives in that network namespace: its /proc/PID/net shows it. Ourselves first; a holder may end while it is read, then the next. */
static int read_tcp_of(struct observation *observation, struct ports *ports, uint32_t netns)
{
	struct in_namespace in = { ports, netns };
	const struct world *world = &observation->world;
	int err = read_tcp_through(observation, getpid(), &in);

	for (int i = 0; i < world->holder_count && err < 0 && err != -ENOMEM; i++)
		if (world->listeners[world->holders[i].listener].netns == netns)
			err = read_tcp_through(observation, (pid_t)world->processes[world->holders[i].process].id.tgid, &in);
	return err;
}

static int gather_connections(struct observation *observation, const struct need *need)
{
	struct world *world = &observation->world;
	struct ports ports = { .observation = observation };
	uint32_t asked = need->listener != NONE ? world->listeners[need->listener].netns : world->host_netns;
	struct failure failure;
	int err;

	for (int i = 0; i < world->listener_count; i++)
		ports.bits[world->listeners[i].port / 8] |= (uint8_t)(1u << world->listeners[i].port % 8);
	err = tracker_read_connections(observation->tracker, take_connection, &ports, &failure);
	if (err == 0)
		err = read_tcp_of(observation, &ports, world->host_netns);
	for (int i = 0; i < world->listener_count && err == 0; i++) {
		uint32_t netns = world->listeners[i].netns;
		bool is_first = netns != world->host_netns;
		int other;

		for (int j = 0; j < i && is_first; j++)
			is_first = world->listeners[j].netns != netns;
		if (!is_first)
			continue;
		/* A namespace that nobody lives in is not worth the others' verdicts. */
		other = read_tcp_of(observation, &ports, netns);
		if (other < 0 && netns == asked)
			err = other;
	}
	if (err == -ENOMEM)
		return err;
	world->connection_table = state_of(err);
	return 0;
}

/* FNV-1a, 64 bits (draft-eastlake-fnv). */
static uint64_t hash_rule(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return hash;
}

void observation_stop_key(const struct listener *listener, const char *rule, struct stop_key *ret)
{
	*ret = (struct stop_key){
		.rule_hash = hash_rule(rule), .netns = listener->netns, .port = listener->port, .family = listener->address.family,
	};
	memcpy(ret->address, listener->address.bytes, sizeof(ret->address));
}

static int gather_stop(struct observation *observation, const struct ruleset *ruleset, const struct need *need)
{
	struct listener *listener = &observation->world.listeners[need->listener];
	struct stop_key key;
	struct stop stop;
	int err;

	observation_stop_key(listener, ruleset->rules[need->rule].matcher.name, &key);
	err = tracker_find_stop(observation->tracker, &key, &stop);
	listener->has_stop = err == 0;
	if (err == 0) {
		listener->stopped_boot_ns = stop.stopped_boot_ns;
		listener->respawner = stop.respawner;
	}
	listener->stop = state_of(err == -ENOENT ? 0 : err);
	return 0;
}

int observation_gather(struct observation *observation, const struct ruleset *ruleset, const struct need *need)
{
	switch (need->kind) {
	case NEED_DETAILS: return gather_details(observation, &observation->world.processes[need->process]);
	case NEED_ENVIRON: return gather_environ(observation, &observation->world.processes[need->process]);
	case NEED_CMDLINE: return gather_cmdline(observation, &observation->world.processes[need->process]);
	case NEED_PROCESSES: return gather_processes(observation);
	case NEED_CONNECTIONS: return gather_connections(observation, need);
	case NEED_STOP: return gather_stop(observation, ruleset, need);
	case NEED_NOTHING: break;
	}
	return 0;
}

int observation_describe(struct observation *observation, int process)
{
	struct process *subject = &observation->world.processes[process];
	int err = 0;

	if (subject->details == FACT_NOT_ASKED)
		err = gather_details(observation, subject);
	if (err == 0 && subject->end_boot_ns == 0 && !subject->argv.is_known && subject->cmdline == FACT_NOT_ASKED)
		err = gather_cmdline(observation, subject);
	return err;
}
