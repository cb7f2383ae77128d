/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "observed.h"
#include "proc.h"

uint64_t clock_boot_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec;
}

static uint64_t mix(uint64_t value)
{
	/* Finalizer of MurmurHash3: neighbouring pids and inodes must not cluster. */
	value ^= value >> 33;
	value *= UINT64_C(0xff51afd7ed558ccd);
	value ^= value >> 33;
	return value;
}

/* Open addressing; slots hold index + 1. Grows at half full. */
static int index_reserve(struct index *index, int count, uint64_t (*hash_at)(const struct observation *, int), const struct observation *observation)
{
	uint32_t size = index->size ? index->size : 64;
	int *slots;

	while ((uint32_t)count * 2 >= size)
		size *= 2;
	if (size == index->size)
		return 0;
	slots = calloc(size, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(index->slots);
	index->slots = slots;
	index->size = size;
	for (int i = 0; i < count; i++) {
		uint32_t slot = (uint32_t)hash_at(observation, i) & (size - 1);

		while (slots[slot])
			slot = (slot + 1) & (size - 1);
		slots[slot] = i + 1;
	}
	return 0;
}

static void index_add(struct index *index, uint64_t hash, int value)
{
	uint32_t slot = (uint32_t)hash & (index->size - 1);

	while (index->slots[slot])
		slot = (slot + 1) & (index->size - 1);
	index->slots[slot] = value + 1;
}

static uint64_t hash_id(struct process_id id)
{
	return mix(id.start_boot_ns ^ (uint64_t)id.tgid << 40);
}

static uint64_t hash_process(const struct observation *observation, int process)
{
	return hash_id(observation->world.processes[process].id);
}

static uint64_t hash_listener(const struct observation *observation, int listener)
{
	return mix(observation->world.listeners[listener].inode);
}

int observation_find(const struct observation *observation, struct process_id id)
{
	const struct index *index = &observation->process_index;
	uint32_t slot = (uint32_t)hash_id(id) & (index->size - 1);

	for (; index->size && index->slots[slot]; slot = (slot + 1) & (index->size - 1)) {
		const struct process_id *found = &observation->world.processes[index->slots[slot] - 1].id;

		if (found->tgid == id.tgid && found->start_boot_ns == id.start_boot_ns)
			return index->slots[slot] - 1;
	}
	return NONE;
}

/* One more at the end of an array; the room doubles. */
int observed_grow(void **items, int count, int *room, size_t size)
{
	int wanted = *room ? *room * 2 : 32;
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

void observed_identify(struct process *process)
{
	program_identify(process->exe, process->comm, &process->argv, &process->program);
	process->memo.keeper[0] = process->memo.keeper[1] = 0;
	process->memo.candidate = 0;
}

static int fill_from_birth(struct observation *observation, struct process *process, const struct birth *birth)
{
	process->is_recorded = true;
	process->is_witnessed = birth->flags & BIRTH_WITNESSED;
	process->has_execed = birth->flags & BIRTH_EXECED;
	process->is_exe_root_only = birth->flags & BIRTH_EXE_ROOT_ONLY;
	process->end_boot_ns = birth->end_boot_ns;
	process->uid = birth->uid;
	process->tty = birth->tty;
	process->parent_tty = birth->parent_tty;
	process->comm = arena_copy(&observation->arena, birth->comm, strnlen(birth->comm, sizeof(birth->comm)));
	if (birth->exe[0] && !(birth->flags & BIRTH_EXE_CUT))
		process->exe = arena_copy(&observation->arena, birth->exe, strnlen(birth->exe, sizeof(birth->exe)));
	process->argv = (struct argv){
		.length = birth->argv_len <= ARGV_HEAD ? birth->argv_len : ARGV_HEAD,
		.is_cut = birth->flags & BIRTH_ARGV_CUT,
		.is_known = !(birth->flags & BIRTH_ARGV_MISSED),
	};
	process->argv.bytes = arena_copy(&observation->arena, birth->argv, process->argv.length);
	return process->comm && process->argv.bytes ? 0 : -ENOMEM;
}

static bool is_own(const struct observation *observation, struct process_id id)
{
	for (int i = 0; i < observation->own_count; i++)
		if (observation->own[i].pid == (pid_t)id.tgid && observation->own[i].start_ticks == proc_ticks(id.start_boot_ns))
			return true;
	return false;
}

/* -ENOENT: not recorded, and only wanted if it is. An entry that never came to rest while it was read counts as not recorded. */
static int add_one(struct observation *observation, struct process_id id, bool only_recorded, struct process_id *ret_parent, int *ret)
{
	struct world *world = &observation->world;
	struct process *process;
	struct birth birth;
	int found = tracker_find_birth(observation->tracker, id, &birth), err;

	if (found < 0 && found != -ENOENT && found != -EAGAIN)
		return found;
	if (found < 0 && only_recorded)
		return -ENOENT;
	err = observed_grow((void **)&world->processes, world->process_count, &observation->process_room, sizeof(*process));
	if (err == 0)
		err = index_reserve(&observation->process_index, world->process_count, hash_process, observation);
	if (err < 0)
		return err;
	process = &world->processes[world->process_count];
	*process = (struct process){
		.id = id, .birth_parent = NONE, .parent_now = NONE, .first_child = NONE, .next_sibling = NONE, .first_held = NONE,
		.comm = "", .is_self_or_ancestor = is_own(observation, id),
	};
	if (found == 0)
		err = fill_from_birth(observation, process, &birth);
	if (err < 0)
		return err;
	*ret_parent = found == 0 ? birth.parent : (struct process_id){ 0 };
	observed_identify(process);
	index_add(&observation->process_index, hash_id(id), world->process_count);
	*ret = world->process_count++;
	return 0;
}

int observation_add(struct observation *observation, struct process_id id, int *ret)
{
	int process = observation_find(observation, id), child = NONE, first = process, err;

	if (process != NONE) {
		*ret = process;
		return 0;
	}
	/* Up the births, to the first that is already here or not recorded. */
	for (;;) {
		struct process_id parent;

		err = add_one(observation, id, child != NONE, &parent, &process);
		if (err == -ENOENT && child != NONE)
			break;
		if (err < 0)
			return err;
		if (child == NONE)
			first = process;
		else
			observation->world.processes[child].birth_parent = process;
		if (parent.tgid == 0)
			break;
		child = process;
		id = parent;
		process = observation_find(observation, id);
		if (process != NONE) {
			if (observation->world.processes[process].is_recorded)
				observation->world.processes[child].birth_parent = process;
			break;
		}
	}
	*ret = first;
	return 0;
}

int observation_find_listener(const struct observation *observation, uint64_t inode, uint32_t netns)
{
	const struct index *index = &observation->listener_index;
	uint32_t slot = (uint32_t)mix(inode) & (index->size - 1);

	for (; index->size && index->slots[slot]; slot = (slot + 1) & (index->size - 1)) {
		const struct listener *found = &observation->world.listeners[index->slots[slot] - 1];

		if (found->inode == inode && found->netns == netns)
			return index->slots[slot] - 1;
	}
	return NONE;
}

static int add_listener(struct observation *observation, const struct holder_record *record, int *ret)
{
	struct world *world = &observation->world;
	struct listener *listener;
	int err;

	err = observed_grow((void **)&world->listeners, world->listener_count, &observation->listener_room, sizeof(*listener));
	if (err == 0)
		err = index_reserve(&observation->listener_index, world->listener_count, hash_listener, observation);
	if (err < 0)
		return err;
	listener = &world->listeners[world->listener_count];
	*listener = (struct listener){
		.inode = record->inode,
		.protocol = record->protocol,
		.address.family = record->family,
		.port = record->port,
		.netns = record->netns,
		.bound_dev = record->bound_dev,
		.is_v6only = record->flags & HOLDER_V6ONLY,
		.is_reuseport = record->flags & HOLDER_REUSEPORT,
		.opener = NONE,
		.opener_comm = "",
	};
	memcpy(listener->address.bytes, record->address, sizeof(listener->address.bytes));
	if (record->flags & HOLDER_HAS_RECORD) {
		listener->opened_boot_ns = record->listen.opened_boot_ns;
		listener->is_age_exact = record->listen.flags & LISTEN_WITNESSED;
		listener->opener_id = record->listen.opener;
		listener->opener_uid = record->listen.opener_uid;
		listener->opener_comm = arena_copy(&observation->arena, record->listen.opener_comm,
						   strnlen(record->listen.opener_comm, sizeof(record->listen.opener_comm)));
		if (!listener->opener_comm)
			return -ENOMEM;
	}
	index_add(&observation->listener_index, mix(record->inode), world->listener_count);
	*ret = world->listener_count++;
	return 0;
}

/* The same descriptor twice (dup, or threads of a leader that has exited) is one holder. */
static bool is_repeated(const struct world *world, int process, int listener)
{
	for (int held = world->processes[process].first_held; held != NONE; held = world->holders[held].next_held)
		if (world->holders[held].listener == listener)
			return true;
	return false;
}

static int take_holder(const struct holder_record *record, void *arg)
{
	struct observation *observation = arg;
	struct world *world = &observation->world;
	int listener = observation_find_listener(observation, record->inode, record->netns), process, err = 0;
	struct process *holder;
	bool is_new = listener == NONE;

	if (is_new)
		err = add_listener(observation, record, &listener);
	if (err == 0)
		err = observation_add(observation, record->holder, &process);
	if (err < 0 || (!is_new && is_repeated(world, process, listener)))
		return err;
	holder = &world->processes[process];
	holder->uid = record->uid;
	holder->is_ns_init = record->flags & HOLDER_NS_INIT;
	holder->is_foreign_pidns = record->flags & HOLDER_FOREIGN_PIDNS;
	if (!holder->comm_now) {
		holder->comm_now = arena_copy(&observation->arena, record->comm, strnlen(record->comm, sizeof(record->comm)));
		if (!holder->comm_now)
			return -ENOMEM;
	}
	if (!holder->is_recorded && !*holder->comm) {
		holder->comm = holder->comm_now;
		observed_identify(holder);
	}
	err = observed_grow((void **)&world->holders, world->holder_count, &observation->holder_room, sizeof(*world->holders));
	if (err < 0)
		return err;
	world->holders[world->holder_count] = (struct holder){ process, listener, holder->first_held };
	holder->first_held = world->holder_count++;
	world->listeners[listener].holder_count++;
	return 0;
}

/* The records come process by process: put the holders of each listener together (counting sort), and link each process's again. */
static int sort_holders(struct world *world)
{
	struct holder *sorted = calloc((size_t)world->holder_count + 1, sizeof(*sorted));
	int at = 0;

	if (!sorted)
		return -ENOMEM;
	for (int i = 0; i < world->listener_count; i++) {
		world->listeners[i].first_holder = at;
		at += world->listeners[i].holder_count;
		world->listeners[i].holder_count = 0;
	}
	for (int i = 0; i < world->process_count; i++)
		world->processes[i].first_held = NONE;
	for (int i = 0; i < world->holder_count; i++) {
		struct listener *listener = &world->listeners[world->holders[i].listener];
		struct process *process = &world->processes[world->holders[i].process];
		int to = listener->first_holder + listener->holder_count++;

		sorted[to] = (struct holder){ world->holders[i].process, world->holders[i].listener, process->first_held };
		process->first_held = to;
	}
	free(world->holders);
	world->holders = sorted;
	return 0;
}

/* Ourselves and whoever runs us, by parent now; births are compared by the same two numbers. */
static void note_own(struct observation *observation)
{
	pid_t pid = getpid();
	struct proc_stat stat;

	while (pid > 0 && observation->own_count < OWN_MAX && proc_read_stat(observation->proc_fd, pid, &stat) == 0) {
		observation->own[observation->own_count].pid = pid;
		observation->own[observation->own_count++].start_ticks = stat.start_ticks;
		pid = stat.ppid;
	}
}

/* Births know parents that have ended since: their chain is ours too. */
static void mark_own_births(struct observation *observation)
{
	struct world *world = &observation->world;

	for (int i = 0; i < world->process_count; i++) {
		if (world->processes[i].id.tgid != (uint32_t)getpid() || !world->processes[i].is_self_or_ancestor)
			continue;
		for (int process = i, guard = 0; process != NONE && guard <= world->process_count; guard++) {
			world->processes[process].is_self_or_ancestor = true;
			process = world->processes[process].birth_parent;
		}
	}
}

static void note_keeps(struct observation *observation)
{
	struct world *world = &observation->world;
	uint16_t port;

	if (tracker_next_keep(observation->tracker, NULL, &port) < 0)
		return;
	for (int i = 0; i < world->listener_count; i++) {
		struct keep keep;

		world->listeners[i].is_kept = tracker_find_keep(observation->tracker, world->listeners[i].port, &keep) == 0 &&
					      (keep.until_boot_ns == 0 || keep.until_boot_ns > observation->boot_ns);
	}
}

static int take(struct observation *observation, struct failure *ret_failure)
{
	struct world *world = &observation->world;
	int err;

	note_own(observation);
	err = proc_read_namespaces(observation->proc_fd, 1, &world->host_pidns, &world->host_netns);
	if (err < 0)
		err = proc_read_namespaces(observation->proc_fd, getpid(), &world->host_pidns, &world->host_netns);
	if (err < 0)
		return failure_set(ret_failure, err, "cannot tell the host's namespaces: %s; is /proc restricted?", strerror(-err));
	err = tracker_read_holders(observation->tracker, take_holder, observation, ret_failure);
	if (err == -ENOMEM)
		return failure_set(ret_failure, err, "out of memory after %d listeners", world->listener_count);
	if (err < 0)
		return err;
	observation->boot_ns = clock_boot_ns();
	for (int i = 0; i < world->listener_count && err == 0; i++) {
		struct listener *listener = &world->listeners[i];
		int opener = NONE;

		if (listener->opener_id.tgid)
			err = observation_add(observation, listener->opener_id, &opener);
		if (opener != NONE && world->processes[opener].is_recorded)
			listener->opener = opener;
	}
	if (err == 0)
		err = sort_holders(world);
	if (err < 0)
		return failure_set(ret_failure, err, "out of memory for %d listeners", world->listener_count);
	mark_own_births(observation);
	note_keeps(observation);
	return 0;
}

int observation_take(struct tracker *tracker, int proc_fd, struct observation **ret, struct failure *ret_failure)
{
	struct observation *observation = calloc(1, sizeof(*observation));
	int err;

	if (!observation)
		return failure_set(ret_failure, -ENOMEM, "out of memory");
	observation->tracker = tracker;
	observation->proc_fd = proc_fd;
	err = take(observation, ret_failure);
	if (err < 0) {
		observation_free(observation);
		return err;
	}
	*ret = observation;
	return 0;
}

void observation_free(struct observation *observation)
{
	if (!observation)
		return;
	free(observation->world.processes);
	free(observation->world.listeners);
	free(observation->world.holders);
	free(observation->world.connections);
	free(observation->world.time_waits);
	free(observation->process_index.slots);
	free(observation->listener_index.slots);
	free(observation->trees);
	arena_free(&observation->arena);
	free(observation);
}

struct world *observation_world(struct observation *observation)
{
	return &observation->world;
}

uint64_t observation_boot_ns(const struct observation *observation)
{
	return observation->boot_ns;
}

/* Room for two trees of all processes there are now. */
static int reserve_trees(struct observation *observation)
{
	int *trees;

	if (observation->world.process_count <= observation->tree_room)
		return 0;
	trees = realloc(observation->trees, (size_t)observation->process_room * 2 * sizeof(*trees));
	if (!trees)
		return -ENOMEM;
	observation->trees = trees;
	observation->tree_room = observation->process_room;
	return 0;
}

int observation_judge(struct observation *observation, const struct ruleset *ruleset, uint64_t now_boot_ns, int listener,
		      struct verdict *ret, enum step *ret_step, int **ret_tree, int *ret_tree_count)
{
	/* Each fact is asked for once at most: more rounds than facts are a fault of ours, and nobody is judged by it. */
	for (int64_t round = 0; round <= 4 * (int64_t)observation->world.process_count + observation->world.listener_count + 8; round++) {
		struct policy_request request;
		int count, err;
		struct need need;

		err = reserve_trees(observation);
		if (err < 0)
			return err;
		request = (struct policy_request){
			.world = &observation->world, .ruleset = ruleset, .now_boot_ns = now_boot_ns, .listener = listener,
			.tree = observation->trees, .spare_tree = observation->trees + observation->tree_room,
		};
		need = policy_judge(&request, ret, ret_step, &count);
		if (need.kind != NEED_NOTHING) {
			err = observation_gather(observation, ruleset, &need);
			if (err < 0)
				return err;
			continue;
		}
		if (ret_tree) {
			*ret_tree = malloc(((size_t)count + 1) * sizeof(**ret_tree));
			if (!*ret_tree)
				return -ENOMEM;
			memcpy(*ret_tree, observation->trees, (size_t)count * sizeof(**ret_tree));
			*ret_tree_count = count;
		}
		return 0;
	}
	return -ELOOP;
}
