/* SPDX-License-Identifier: GPL-2.0-only */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "pins.h"

const char *const pin_names[PIN_MAX] = {
	[PIN_LISTENERS] = "listeners",
	[PIN_BIRTHS] = "births",
	[PIN_META] = "meta",
	[PIN_COUNTERS] = "counters",
	[PIN_SWITCHES] = "switches",
	[PIN_WAKEUPS] = "wakeups",
	[PIN_STOPS] = "stops",
	[PIN_TALLIES] = "tallies",
	[PIN_KEEPS] = "keeps",
	[PIN_RECORD_BIRTH] = "record_birth",
	[PIN_RECORD_EXEC] = "record_exec",
	[PIN_RECORD_END] = "record_end",
	[PIN_RECORD_LISTEN] = "record_listen",
	[PIN_ITER_HOLDERS] = "iter_holders",
	[PIN_ITER_PROCESSES] = "iter_processes",
	[PIN_ITER_CONNECTIONS] = "iter_connections",
	[PIN_CONFIRM_LISTEN] = "confirm_listen",
};

struct tracker {
	char dir[PATH_MAX];		/* PIN_DIR/v<layout> */
	int dir_fd;
	int map_fds[PIN_KEEPS + 1];
	uint64_t misses;		/* recursion misses of all programs, as of open */
	void *wakeups;			/* consumer page of the ring; NULL until armed */
	void *wakeups_data;
};

void pins_layout_name(char name[static PINS_NAME_SIZE])
{
	snprintf(name, PINS_NAME_SIZE, "v%d", LISTENREAP_LAYOUT);
}

/* include/linux/proc_ns.h: inode numbers of the initial namespaces. */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFCu
#define INITIAL_TIME_NAMESPACE 0xEFFFFFFAu

static bool is_namespace(const char *path, unsigned inode)
{
	struct stat status;

	/* No such file: a kernel without that kind of namespace. */
	return stat(path, &status) < 0 ? errno == ENOENT : status.st_ino == inode;
}

int pins_check_namespaces(struct failure *ret_failure)
{
	if (!is_namespace("/proc/self/ns/pid", INITIAL_PID_NAMESPACE))
		return failure_set(ret_failure, -EOPNOTSUPP,
				   "cannot observe from inside a container: this is not the initial pid namespace; run listenreap on the host");
	if (!is_namespace("/proc/self/ns/time", INITIAL_TIME_NAMESPACE))
		return failure_set(ret_failure, -EOPNOTSUPP,
				   "cannot observe from inside a time namespace: start times differ there; run listenreap outside of it");
	return 0;
}

int pins_open_dir(const char *pin_dir, const char *name, int *ret_fd)
{
	int parent = open(pin_dir, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, err = 0;

	if (parent < 0)
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		err = -errno;
	close(parent);
	if (err == 0)
		*ret_fd = fd;
	return err;
}

static int find(struct tracker *tracker, enum pin pin, const void *key, void *ret)
{
	return bpf_map_lookup_elem(tracker->map_fds[pin], key, ret) < 0 ? -errno : 0;
}

static int put(struct tracker *tracker, enum pin pin, const void *key, const void *value)
{
	return bpf_map_update_elem(tracker->map_fds[pin], key, value, BPF_ANY) < 0 ? -errno : 0;
}

/* Another layout's directory beside ours? */
static bool has_other_layout(const char *pin_dir)
{
	DIR *dir = opendir(pin_dir);
	bool has_other = false;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		has_other |= entry->d_name[0] == 'v' && entry->d_name[1] >= '0' && entry->d_name[1] <= '9';
	if (dir)
		closedir(dir);
	return has_other;
}

/* Maps by type and sizes; the kernel keeps the name that each was made with. */
static bool is_map_of(int fd, enum pin pin)
{
	static const struct {
		__u32 type, key_size, value_size;
	} expected[] = {
		[PIN_LISTENERS] = { BPF_MAP_TYPE_SK_STORAGE, sizeof(int), sizeof(struct listen_record) },
		[PIN_BIRTHS] = { BPF_MAP_TYPE_HASH, sizeof(struct process_id), sizeof(struct birth) },
		[PIN_META] = { BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct tracking_meta) },
		[PIN_COUNTERS] = { BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(__u64) },
		[PIN_SWITCHES] = { BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct tracking_switches) },
		[PIN_WAKEUPS] = { BPF_MAP_TYPE_RINGBUF, 0, 0 },
		[PIN_STOPS] = { BPF_MAP_TYPE_HASH, sizeof(struct stop_key), sizeof(struct stop) },
		[PIN_TALLIES] = { BPF_MAP_TYPE_HASH, sizeof(struct tally_key), sizeof(__u64) },
		[PIN_KEEPS] = { BPF_MAP_TYPE_HASH, sizeof(__u16), sizeof(struct keep) },
	};
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && strcmp(info.name, pin_names[pin]) == 0 && info.type == expected[pin].type &&
	       info.key_size == expected[pin].key_size && info.value_size == expected[pin].value_size;
}

/*
 * A link, iterators included, by the name of its program. Looking that up needs CAP_SYS_ADMIN: without it, the kind of the link must do, and
 * *ret_misses, runs that the kernel skipped, stays as it was.
 */
static bool is_link_of(int fd, enum pin pin, uint64_t *ret_misses)
{
	bool is_iterator = pin >= PIN_ITER_HOLDERS && pin <= PIN_ITER_CONNECTIONS;
	struct bpf_link_info link = { 0 };
	struct bpf_prog_info program = { 0 };
	__u32 link_size = sizeof(link), program_size = sizeof(program);
	bool is_right;
	int program_fd;

	if (bpf_obj_get_info_by_fd(fd, &link, &link_size) < 0 || link.prog_id == 0)
		return false;
	program_fd = bpf_prog_get_fd_by_id(link.prog_id);
	if (program_fd < 0 && errno == EPERM)
		return is_iterator ? link.type == BPF_LINK_TYPE_ITER :
				     link.type == BPF_LINK_TYPE_TRACING || link.type == BPF_LINK_TYPE_RAW_TRACEPOINT;
	if (program_fd < 0)
		return false;
	is_right = bpf_obj_get_info_by_fd(program_fd, &program, &program_size) == 0 &&
		   strncmp(program.name, pin_names[pin], BPF_OBJ_NAME_LEN - 1) == 0;
	close(program_fd);
	if (is_right && ret_misses)
		*ret_misses += program.recursion_misses;
	return is_right;
}

/* An object under this name; -1 for a directory, a link or nothing. */
static int open_pin(const struct tracker *tracker, enum pin pin)
{
	char path[PATH_MAX + PINS_NAME_SIZE];
	struct stat status;
	int fd;

	if (fstatat(tracker->dir_fd, pin_names[pin], &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
		return -1;
	snprintf(path, sizeof(path), "%s/%s", tracker->dir, pin_names[pin]);
	fd = bpf_obj_get(path);
	return fd;
}

static bool is_pin_right(struct tracker *tracker, enum pin pin)
{
	int fd = open_pin(tracker, pin);
	bool is_right;

	if (fd < 0)
		return false;
	if (pin <= PIN_KEEPS) {
		is_right = is_map_of(fd, pin);
		tracker->map_fds[pin] = fd;
		return is_right;
	}
	is_right = is_link_of(fd, pin, &tracker->misses);
	close(fd);
	return is_right;
}

/* Everything is looked at: half a directory, or one pin under another's name, would give wrong answers and no error. */
static int check_pins(struct tracker *tracker, const char *pin_dir, struct failure *ret_failure)
{
	struct tracking_meta meta;
	__u32 zero = 0;

	for (int pin = 0; pin < PIN_MAX; pin++) {
		if (faccessat(tracker->dir_fd, pin_names[pin], F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
			if (pin == PIN_CONFIRM_LISTEN)
				continue;
			return failure_set(ret_failure, -EBADMSG, "the pins in %s are incomplete (no %s): run `listenreap load` to repair them",
					   pin_dir, pin_names[pin]);
		}
		if (is_pin_right(tracker, (enum pin)pin))
			continue;
		if (geteuid() != 0 && (errno == EPERM || errno == EACCES))
			return failure_set(ret_failure, -errno, "may not read the pins in %s: %s; run as root", pin_dir, strerror(errno));
		return failure_set(ret_failure, -EBADMSG, "%s in %s is not what this version pins: run `listenreap load` to repair it",
				   pin_names[pin], pin_dir);
	}
	if (find(tracker, PIN_META, &zero, &meta) < 0 || meta.layout != LISTENREAP_LAYOUT)
		return failure_set(ret_failure, -EBADMSG, "the pins in %s were never finished: run `listenreap load` to repair them", pin_dir);
	if (meta.hook == HOOK_FEXIT && faccessat(tracker->dir_fd, pin_names[PIN_CONFIRM_LISTEN], F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return failure_set(ret_failure, -EBADMSG, "the pins in %s are incomplete (no %s): run `listenreap load` to repair them", pin_dir,
				   pin_names[PIN_CONFIRM_LISTEN]);
	return 0;
}

int tracker_open(const char *pin_dir, struct tracker **ret, struct failure *ret_failure)
{
	struct tracker *tracker;
	char name[PINS_NAME_SIZE];
	int err = pins_check_namespaces(ret_failure);

	if (err < 0)
		return err;
	tracker = calloc(1, sizeof(*tracker));
	if (!tracker)
		return failure_set(ret_failure, -ENOMEM, "out of memory");
	for (size_t i = 0; i < sizeof(tracker->map_fds) / sizeof(tracker->map_fds[0]); i++)
		tracker->map_fds[i] = -1;
	tracker->dir_fd = -1;
	pins_layout_name(name);
	snprintf(tracker->dir, sizeof(tracker->dir), "%s/%s", pin_dir, name);
	err = pins_open_dir(pin_dir, name, &tracker->dir_fd);
	if (err == -ENOENT && has_other_layout(pin_dir))
		err = failure_set(ret_failure, -ESTALE, "the pins in %s are another version's: run `listenreap load` to replace them", pin_dir);
	else if (err == -ENOENT || err == -ENOTDIR)
		err = failure_set(ret_failure, -ENOENT, "tracking is not loaded (nothing in %s): run `listenreap load`", pin_dir);
	else if (err < 0)
		failure_set(ret_failure, err, "cannot open %s: %s%s", pin_dir, strerror(-err), err == -EACCES ? "; run as root" : "");
	else
		err = check_pins(tracker, pin_dir, ret_failure);
	if (err < 0) {
		tracker_close(tracker);
		return err;
	}
	*ret = tracker;
	return 0;
}

void tracker_close(struct tracker *tracker)
{
	if (!tracker)
		return;
	for (size_t i = 0; i < sizeof(tracker->map_fds) / sizeof(tracker->map_fds[0]); i++)
		if (tracker->map_fds[i] >= 0)
			close(tracker->map_fds[i]);
	if (tracker->wakeups)
		munmap(tracker->wakeups, (size_t)sysconf(_SC_PAGESIZE));
	if (tracker->wakeups_data)
		munmap(tracker->wakeups_data, (size_t)sysconf(_SC_PAGESIZE));
	if (tracker->dir_fd >= 0)
		close(tracker->dir_fd);
	free(tracker);
}

/* The kernel writes whole records into a buffer of 32 KiB of its own; ours may end in the middle of one. */
#define READ_SIZE (64 * 1024)

/* Reads a pinned iterator to its end. A read that met a million silent objects answers EAGAIN (bpf_iter.c, MAX_ITER_OBJECTS): go on. */
static int read_records(struct tracker *tracker, enum pin pin, size_t record_size, int (*each)(const void *, void *), void *arg,
			struct failure *ret_failure)
{
	_Alignas(8) static char buffer[READ_SIZE];
	size_t filled = 0;
	int fd = openat(tracker->dir_fd, pin_names[pin], O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return failure_set(ret_failure, -errno, "cannot open %s/%s: %s", tracker->dir, pin_names[pin], strerror(errno));
	while (err == 0) {
		ssize_t got = read(fd, buffer + filled, sizeof(buffer) - filled);
		size_t used = 0;

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got < 0)
			err = failure_set(ret_failure, -errno, "cannot read %s/%s: %s", tracker->dir, pin_names[pin], strerror(errno));
		if (got <= 0)
			break;
		filled += (size_t)got;
		for (; filled - used >= record_size && err == 0; used += record_size)
			err = each(buffer + used, arg);
		memmove(buffer, buffer + used, filled - used);
		filled -= used;
	}
	close(fd);
	if (err == 0 && filled > 0)
		err = failure_set(ret_failure, -EBADMSG, "%s/%s ends in the middle of a record: run `listenreap load`", tracker->dir,
				  pin_names[pin]);
	return err;
}

/* A callback for one kind of record as one for any. */
#define DEFINE_READ(plural, singular, pin)                                                                                  \
	struct singular##_visit {                                                                                               \
		int (*each)(const struct singular##_record *, void *);                                                          \
		void *arg;                                                                                                      \
	};                                                                                                                      \
	static int visit_##singular(const void *record, void *arg)                                                              \
	{                                                                                                                       \
		const struct singular##_visit *visit = arg;                                                                     \
                                                                                                                                \
		return visit->each(record, visit->arg);                                                                         \
	}                                                                                                                       \
	int tracker_read_##plural(struct tracker *tracker, int (*each)(const struct singular##_record *, void *), void *arg,    \
				  struct failure *ret_failure)                                                                          \
	{                                                                                                                       \
		struct singular##_visit visit = { each, arg };                                                                  \
                                                                                                                                \
		return read_records(tracker, pin, sizeof(struct singular##_record), visit_##singular, &visit, ret_failure);     \
	}

DEFINE_READ(holders, holder, PIN_ITER_HOLDERS)
DEFINE_READ(processes, process, PIN_ITER_PROCESSES)
DEFINE_READ(connections, connection, PIN_ITER_CONNECTIONS)

static bool is_whole(const struct birth *birth, struct process_id id)
{
	return birth->self.tgid == id.tgid && birth->self.start_boot_ns == id.start_boot_ns && !(birth->exec_seq & 1) &&
	       (!(birth->flags & BIRTH_ENDED) || birth->end_boot_ns != 0);
}

/* An entry is written in place while we read: whole means that it names itself, no exec is under way, and two reads agree. */
int tracker_find_birth(struct tracker *tracker, struct process_id id, struct birth *ret)
{
	struct birth birth, again;
	int err;

	for (int i = 0; i < 16; i++) {
		err = find(tracker, PIN_BIRTHS, &id, &birth);
		if (err == 0)
			err = find(tracker, PIN_BIRTHS, &id, &again);
		if (err < 0)
			return err;
		if (is_whole(&birth, id) && birth.exec_seq == again.exec_seq && birth.flags == again.flags &&
		    memcmp(birth.argv, again.argv, sizeof(birth.argv)) == 0) {
			*ret = birth;
			return 0;
		}
	}
	return -EAGAIN;
}

int tracker_read_status(struct tracker *tracker, struct tracking_status *ret, struct failure *ret_failure)
{
	struct tracking_status status = { 0 };
	struct tracking_meta meta;
	__u32 zero = 0;
	int err = find(tracker, PIN_META, &zero, &meta);

	for (__u32 counter = 0; counter < COUNTER_MAX && err == 0; counter++)
		err = find(tracker, PIN_COUNTERS, &counter, &status.counters[counter]);
	if (err < 0)
		return failure_set(ret_failure, err, "cannot read the counters in %s: %s", tracker->dir, strerror(-err));
	status.since_boot_ns = meta.since_boot_ns;
	status.since_real_s = meta.since_real_s;
	status.hook = (enum tracking_hook)meta.hook;
	memcpy(status.version, meta.version, sizeof(status.version));
	status.version[sizeof(status.version) - 1] = '\0';
	status.recursion_misses = tracker->misses;
	*ret = status;
	return 0;
}

int tracker_find_stop(struct tracker *tracker, const struct stop_key *key, struct stop *ret)
{
	return find(tracker, PIN_STOPS, key, ret);
}

int tracker_put_stop(struct tracker *tracker, const struct stop_key *key, const struct stop *stop)
{
	return put(tracker, PIN_STOPS, key, stop);
}

int tracker_add_tally(struct tracker *tracker, const struct tally_key *key)
{
	uint64_t count = 0;
	int err = find(tracker, PIN_TALLIES, key, &count);

	if (err < 0 && err != -ENOENT)
		return err;
	count++;
	return put(tracker, PIN_TALLIES, key, &count);
}

int tracker_read_tallies(struct tracker *tracker, int (*each)(const struct tally_key *, uint64_t, void *), void *arg)
{
	struct tally_key key, *after = NULL;
	int err = 0;

	while (err == 0 && bpf_map_get_next_key(tracker->map_fds[PIN_TALLIES], after, &key) == 0) {
		uint64_t count;

		if (find(tracker, PIN_TALLIES, &key, &count) == 0)
			err = each(&key, count, arg);
		after = &key;
	}
	return err;
}

int tracker_find_keep(struct tracker *tracker, uint16_t port, struct keep *ret)
{
	return find(tracker, PIN_KEEPS, &port, ret);
}

int tracker_put_keep(struct tracker *tracker, uint16_t port, const struct keep *keep)
{
	return put(tracker, PIN_KEEPS, &port, keep);
}

int tracker_remove_keep(struct tracker *tracker, uint16_t port)
{
	return bpf_map_delete_elem(tracker->map_fds[PIN_KEEPS], &port) < 0 ? -errno : 0;
}

int tracker_next_keep(struct tracker *tracker, const uint16_t *after, uint16_t *ret)
{
	uint16_t next;

	if (bpf_map_get_next_key(tracker->map_fds[PIN_KEEPS], after, &next) < 0)
		return -errno;
	*ret = next;
	return 0;
}

int tracker_lock_run(struct tracker *tracker, ino_t *ret_inode)
{
	struct stat status;

	if (fstat(tracker->dir_fd, &status) < 0)
		return -errno;
	*ret_inode = status.st_ino;
	return flock(tracker->dir_fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

/*
 * The ring is one page and its records say nothing but "a listen()": draining it is moving the consumer to the producer. Layout of the two
 * pages: kernel/bpf/ringbuf.c, struct bpf_ringbuf.
 */
int tracker_arm(struct tracker *tracker, int *ret_fd, struct failure *ret_failure)
{
	struct tracking_switches switches = { .armed = 1 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = tracker->map_fds[PIN_WAKEUPS], err;
	__u32 zero = 0;

	if (!tracker->wakeups) {
		void *consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		void *producer = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)page);

		if (consumer == MAP_FAILED || producer == MAP_FAILED)
			return failure_set(ret_failure, -errno, "cannot map %s/wakeups: %s", tracker->dir, strerror(errno));
		tracker->wakeups = consumer;
		tracker->wakeups_data = producer;
	}
	err = put(tracker, PIN_SWITCHES, &zero, &switches);
	if (err < 0)
		return failure_set(ret_failure, err, "cannot arm the wake-up in %s: %s", tracker->dir, strerror(-err));
	*ret_fd = fd;
	return 0;
}

int tracker_drain(struct tracker *tracker)
{
	if (tracker->wakeups) {
		unsigned long produced = __atomic_load_n((unsigned long *)tracker->wakeups_data, __ATOMIC_ACQUIRE);

		__atomic_store_n((unsigned long *)tracker->wakeups, produced, __ATOMIC_RELEASE);
	}
	return 0;
}
