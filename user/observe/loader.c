/* SPDX-License-Identifier: GPL-2.0-only */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include "listenreap.skel.h"
#include "pins.h"
#include "proc.h"

#ifndef BPF_FS_MAGIC
#define BPF_FS_MAGIC 0xcafe4a11
#endif
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

#define BPFFS "/sys/fs/bpf"
static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define cleanup_fd __attribute__((cleanup(close_fd)))

static void destroy_skeleton(struct listenreap **skeleton)
{
	listenreap__destroy(*skeleton);
}
#define cleanup_skeleton __attribute__((cleanup(destroy_skeleton)))

static void destroy_link(struct bpf_link **link)
{
	bpf_link__destroy(*link);
}
#define cleanup_link __attribute__((cleanup(destroy_link)))

/* What libbpf last complained of; it goes into the one line that says why. */
static char complaint[4096];

static int note_complaint(enum libbpf_print_level level, const char *format, va_list arguments)
{
	size_t used = strlen(complaint);

	if (level == LIBBPF_WARN && used < sizeof(complaint) - 1)
		vsnprintf(complaint + used, sizeof(complaint) - used, format, arguments);
	return 0;
}

static bool has_capability(unsigned capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct words[2] = { 0 };

	return syscall(SYS_capget, &header, words) == 0 && words[capability / 32].effective & 1u << capability % 32;
}

/* Readable is not enough: it may be masked by an empty file. */
static bool has_btf(void)
{
	cleanup_fd int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	__u16 magic;

	return fd >= 0 && read(fd, &magic, sizeof(magic)) == sizeof(magic) && magic == BTF_MAGIC;
}

/* What must hold before anything is tried. */
static int check_surroundings(struct failure *ret_failure)
{
	int err = pins_check_namespaces(ret_failure);

	if (err < 0)
		return err;
	if (!has_capability(CAP_SYS_ADMIN) && !(has_capability(CAP_BPF) && has_capability(CAP_PERFMON)))
		return failure_set(ret_failure, -EPERM, "tracking needs root, or CAP_BPF and CAP_PERFMON: run as root");
	if (!has_btf())
		return failure_set(ret_failure, -EOPNOTSUPP,
				   "this kernel has no type information (/sys/kernel/btf/vmlinux): it needs CONFIG_DEBUG_INFO_BTF=y");
	return 0;
}

static bool is_read_only(const char *path)
{
	struct statvfs status;

	return statvfs(path, &status) == 0 && status.f_flag & ST_RDONLY;
}

static bool is_bpffs(const char *path)
{
	struct statfs status;

	return statfs(path, &status) == 0 && (unsigned long)status.f_type == BPF_FS_MAGIC;
}

/* The directory that pin_dir is, or will be made, in. */
static void parent_of(const char *pin_dir, char parent[static PATH_MAX])
{
	char *slash;

	snprintf(parent, PATH_MAX, "%s", pin_dir);
	for (size_t length = strlen(parent); length > 1 && parent[length - 1] == '/'; length--)
		parent[length - 1] = '\0';
	slash = strrchr(parent, '/');
	if (slash)
		slash[slash == parent] = '\0';
}

static bool is_below(const char *path, const char *above)
{
	size_t length = strlen(above);

	return strncmp(path, above, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool is_loaded(const char *pin_dir)
{
	struct failure ignored;
	struct tracker *tracker;

	if (tracker_open(pin_dir, &tracker, &ignored) < 0)
		return false;
	tracker_close(tracker);
	return true;
}

static int refuse_read_only(const char *path, struct failure *ret_failure)
{
	return failure_set(ret_failure, -EOPNOTSUPP, "cannot pin in %s: its bpf filesystem is mounted read-only; mount -o remount,rw it", path);
}

/* 1: the bpf filesystem must be mounted first. */
static int check_pin_dir(const char *pin_dir, struct failure *ret_failure)
{
	char parent[PATH_MAX];
	struct stat status;

	if (strlen(pin_dir) > PATH_MAX - 2 * PINS_NAME_SIZE)
		return failure_set(ret_failure, -ENAMETOOLONG, "the name of --pin-dir is too long");
	parent_of(pin_dir, parent);
	if (lstat(pin_dir, &status) == 0) {
		if (!S_ISDIR(status.st_mode))
			return failure_set(ret_failure, -ENOTDIR, "%s is not a directory: choose another --pin-dir", pin_dir);
		if (is_bpffs(pin_dir)) {
			if (status.st_uid != 0 && status.st_uid != geteuid())
				return failure_set(ret_failure, -EPERM, "%s belongs to user %u: only root may own the pins", pin_dir,
						   (unsigned)status.st_uid);
			return is_read_only(pin_dir) && !is_loaded(pin_dir) ? refuse_read_only(pin_dir, ret_failure) : 0;
		}
	} else if (is_bpffs(parent)) {
		return is_read_only(parent) ? refuse_read_only(pin_dir, ret_failure) : 0;
	}
	if (is_below(pin_dir, BPFFS) && !is_bpffs(BPFFS)) {
		if (access(BPFFS, F_OK) < 0)
			return failure_set(ret_failure, -EOPNOTSUPP, "%s does not exist: mount sysfs, or use a kernel with CONFIG_BPF_SYSCALL=y",
					   BPFFS);
		return 1;
	}
	return failure_set(ret_failure, -EINVAL, "%s is not on a bpf filesystem: `mount -t bpf bpf DIR` and say --pin-dir DIR/listenreap",
			   access(parent, F_OK) == 0 ? pin_dir : parent);
}

/* Takes the lock on pin_dir, which is made when it is not there. An unload may remove it in between: then again. */
static int lock_pin_dir(const char *pin_dir, bool makes, bool *ret_made, int *ret_fd, struct failure *ret_failure)
{
	for (;;) {
		struct stat ours, now;
		bool was_made = makes && mkdir(pin_dir, 0700) == 0;
		int fd;

		if (makes && !was_made && errno != EEXIST)
			return failure_set(ret_failure, -errno, "cannot make %s: %s", pin_dir, strerror(errno));
		fd = open(pin_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT && makes)
			continue;
		if (fd < 0)
			return failure_set(ret_failure, -errno, "cannot open %s: %s", pin_dir, strerror(errno));
		if (flock(fd, LOCK_EX) < 0) {
			int err = -errno;

			close(fd);
			return failure_set(ret_failure, err, "cannot lock %s: %s", pin_dir, strerror(-err));
		}
		if (fstat(fd, &ours) == 0 && lstat(pin_dir, &now) == 0 && ours.st_ino == now.st_ino && ours.st_dev == now.st_dev) {
			*ret_made = was_made;
			*ret_fd = fd;
			return 0;
		}
		close(fd);
		if (!makes)
			return failure_set(ret_failure, -ENOENT, "%s is gone", pin_dir);
	}
}

/* Removes a directory of pins and everything in it; never follows a link. */
static int remove_pins(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	if (fd < 0)
		return errno == ENOENT ? 0 : unlinkat(dir_fd, name, 0) < 0 ? -errno : 0;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (err == 0 && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) < 0 && errno != ENOENT)
			err = errno == EISDIR ? remove_pins(fd, entry->d_name) : -errno;
	}
	closedir(dir);
	if (err == 0 && unlinkat(dir_fd, name, AT_REMOVEDIR) < 0)
		err = -errno;
	return err;
}

static bool is_layout_name(const char *name)
{
	if (strcmp(name, PINS_LOADING) == 0)
		return true;
	if (*name++ != 'v' || !*name)
		return false;
	return name[strspn(name, "0123456789")] == '\0';
}

/* Removes every layout of ours but `kept` (NULL: all). */
static int remove_layouts(int dir_fd, const char *kept)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	while (err == 0 && (entry = readdir(dir)))
		if (is_layout_name(entry->d_name) && (!kept || strcmp(entry->d_name, kept) != 0))
			err = remove_pins(dir_fd, entry->d_name);
	closedir(dir);
	return err;
}

/*
 * libbpf replaces bpf_probe_read_user by bpf_probe_read where its own trial of a *kernel* read fails, as under
 * lockdown=confidentiality, and that one does not load there. The user read does: put its number back.
 */
static int restore_user_reads(struct bpf_program *program, struct bpf_prog_load_opts *options, long cookie)
{
	size_t count = bpf_program__insn_cnt(program);
	struct bpf_insn *insns = calloc(count, sizeof(*insns));
	int err;

	(void)options;
	(void)cookie;
	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(program), count * sizeof(*insns));
	for (size_t i = 0; i < count; i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) && insns[i].src_reg == 0 && insns[i].imm == BPF_FUNC_probe_read)
			insns[i].imm = BPF_FUNC_probe_read_user;
	err = bpf_program__set_insns(program, insns, count);
	free(insns);
	return err;
}

/* A map of another layout, if it is what ours is: type and sizes. -1: none. */
static int open_old_map(const char *pin_dir, const char *name, struct bpf_map *ours)
{
	DIR *dir = opendir(pin_dir);
	struct dirent *entry;
	int found = -1;

	while (dir && found < 0 && (entry = readdir(dir))) {
		char path[PATH_MAX + 2 * PINS_NAME_SIZE], own[PINS_NAME_SIZE];
		struct bpf_map_info info = { 0 };
		__u32 size = sizeof(info);

		pins_layout_name(own);
		if (!is_layout_name(entry->d_name) || strcmp(entry->d_name, own) == 0 || strcmp(entry->d_name, PINS_LOADING) == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%.16s/%s", pin_dir, entry->d_name, name);
		found = bpf_obj_get(path);
		if (found >= 0 && (bpf_obj_get_info_by_fd(found, &info, &size) < 0 || info.type != bpf_map__type(ours) ||
				   info.key_size != bpf_map__key_size(ours) || info.value_size != bpf_map__value_size(ours))) {
			close(found);
			found = -1;
		}
	}
	if (dir)
		closedir(dir);
	return found;
}

static void reuse_old_listeners(struct listenreap *skeleton, const char *pin_dir)
{
	cleanup_fd int old = open_old_map(pin_dir, "listeners", skeleton->maps.listeners);

	if (old >= 0)
		bpf_map__reuse_fd(skeleton->maps.old_listeners, old);
}

/*
 * Elements come from small per-CPU caches that are refilled a little later (kernel/bpf/memalloc.c): a burst of inserts meets ENOMEM where
 * there is memory enough. Waiting a moment is the cure.
 */
static int insert(int map, const void *key, const void *value, __u64 flags)
{
	for (int tries = 0; tries < 200; tries++) {
		if (bpf_map_update_elem(map, key, value, flags) == 0)
			return 0;
		if (errno != ENOMEM && errno != EBUSY && errno != EAGAIN)
			break;
		usleep(500);
	}
	return -errno;
}

/*
 * Births of the layout that is replaced. Our hooks are on by now, and so are the old ones. An entry of ours that did not see the birth gives
 * way to the old one that did. Who ends between the copy and the second look is marked by the old hook alone, and is taken over again.
 */
static void carry_births(struct listenreap *skeleton, const char *pin_dir)
{
	cleanup_fd int old = open_old_map(pin_dir, "births", skeleton->maps.births);
	int births = bpf_map__fd(skeleton->maps.births);

	for (int pass = 0; pass < 2 && old >= 0; pass++) {
		struct process_id key, *after = NULL;

		while (bpf_map_get_next_key(old, after, &key) == 0) {
			struct birth birth, carried;

			after = &key;
			if (bpf_map_lookup_elem(old, &key, &birth) < 0)
				continue;
			if (insert(births, &key, &birth, BPF_NOEXIST) == 0 || bpf_map_lookup_elem(births, &key, &carried) < 0)
				continue;
			if ((birth.flags & BIRTH_WITNESSED && !(carried.flags & BIRTH_WITNESSED)) ||
			    (pass > 0 && birth.flags & BIRTH_ENDED && !(carried.flags & BIRTH_ENDED)))
				insert(births, &key, &birth, BPF_EXIST);
		}
	}
}

/* What user space wrote: stops, tallies and keeps. */
static void carry_own(const char *pin_dir, const char *name, struct bpf_map *ours)
{
	cleanup_fd int old = open_old_map(pin_dir, name, ours);
	char key[128], value[128], *after = NULL;

	if (old < 0 || bpf_map__key_size(ours) > sizeof(key) || bpf_map__value_size(ours) > sizeof(value))
		return;
	while (bpf_map_get_next_key(old, after, key) == 0) {
		after = key;
		if (bpf_map_lookup_elem(old, key, value) == 0)
			insert(bpf_map__fd(ours), key, value, BPF_NOEXIST);
	}
}

static void carry_over(struct listenreap *skeleton, const char *pin_dir)
{
	carry_births(skeleton, pin_dir);
	carry_own(pin_dir, "stops", skeleton->maps.stops);
	carry_own(pin_dir, "tallies", skeleton->maps.tallies);
	carry_own(pin_dir, "keeps", skeleton->maps.keeps);
}

/* pin_dir (may be NULL): where an older layout may be, whose records on sockets are to be taken over. */
static int open_skeleton(const char *pin_dir, struct listenreap **ret)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, handler, .prog_prepare_load_fn = restore_user_reads);
	static int handler_id = -1;
	struct listenreap *skeleton;
	int err;

	libbpf_set_print(note_complaint);
	complaint[0] = '\0';
	if (handler_id < 0)
		handler_id = libbpf_register_prog_handler("tp_btf_user+", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, &handler);
	skeleton = listenreap__open();
	if (!skeleton)
		return -errno;
	err = bpf_program__set_attach_target(skeleton->progs.record_exec, 0, "sched_process_exec");
	if (err < 0) {
		listenreap__destroy(skeleton);
		return err;
	}
	if (pin_dir)
		reuse_old_listeners(skeleton, pin_dir);
	*ret = skeleton;
	return 0;
}

/* Loads it all, with the fexit program where this kernel takes it and without it where it does not: by trial, never by version. */
static int load_skeleton(const char *pin_dir, struct listenreap **ret)
{
	struct listenreap *skeleton;
	int err = -EINVAL;

	for (int with_fexit = 1; with_fexit >= 0; with_fexit--) {
		struct bpf_link *link;

		err = open_skeleton(pin_dir, &skeleton);
		if (err < 0)
			return err;
		bpf_program__set_autoload(skeleton->progs.confirm_listen, with_fexit);
		err = listenreap__load(skeleton);
		if (err == 0 && with_fexit) {
			link = bpf_program__attach_trace(skeleton->progs.confirm_listen);
			if (!link)
				err = -errno;
			skeleton->links.confirm_listen = link;
		}
		if (err == 0) {
			*ret = skeleton;
			return 0;
		}
		listenreap__destroy(skeleton);
	}
	return err;
}

/* Would this one program load by itself? Tells which of them a kernel refuses. */
static bool loads_alone(const char *name)
{
	cleanup_skeleton struct listenreap *skeleton = NULL;
	struct bpf_program *program;

	if (open_skeleton(NULL, &skeleton) < 0)
		return false;
	bpf_object__for_each_program(program, skeleton->obj)
		bpf_program__set_autoload(program, strcmp(bpf_program__name(program), name) == 0);
	return listenreap__load(skeleton) == 0;
}

/* Names what is missing: the first of these that a kernel refuses. */
static const struct {
	const char *program, *what;
} abilities[] = {
	{ "record_listen", "socket storage for tracing programs, which Linux 5.12 and newer have" },
	{ "record_birth", "typed tracepoints with atomic operations (CONFIG_BPF_EVENTS, Linux 5.12 or newer)" },
	{ "record_end", "typed tracepoints with atomic operations (CONFIG_BPF_EVENTS, Linux 5.12 or newer)" },
	{ "record_exec", "reading the arguments of a program at exec" },
	{ "iter_holders", "BPF iterators over open files, which Linux 5.12 and newer have" },
	{ "iter_processes", "BPF iterators over processes" },
	{ "iter_connections", "BPF iterators over open files that reach accept queues" },
};
#define ABILITY_COUNT (sizeof(abilities) / sizeof(abilities[0]))

static int explain_refusal(int err, struct failure *ret_failure)
{
	char said[160], *line;

	for (size_t i = 0; i < ABILITY_COUNT; i++)
		if (!loads_alone(abilities[i].program))
			return failure_set(ret_failure, -EOPNOTSUPP, "this kernel cannot track listeners: it lacks %s; `listenreap doctor` lists it all",
					   abilities[i].what);
	snprintf(said, sizeof(said), "%.*s", (int)sizeof(said) - 1, complaint);
	line = strchr(said, '\n');
	if (line)
		*line = '\0';
	return failure_set(ret_failure, err == -ENOMEM ? err : -EOPNOTSUPP, "this kernel refuses the tracking programs: %s (%s)", strerror(-err), said);
}

/* Runs an iterator program once for its effect. */
static int run_iterator(struct bpf_program *program)
{
	cleanup_link struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	cleanup_fd int fd = -1;
	char buffer[64];
	ssize_t got;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0)
		return -errno;
	do
		got = read(fd, buffer, sizeof(buffer));
	while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	return got < 0 ? -errno : 0;
}

/* Reads argv of what lived before from /proc; a process that has exec'd since is left to the exec hook. */
static int seed_arguments(struct listenreap *skeleton, int proc_fd)
{
	cleanup_link struct bpf_link *link = bpf_program__attach_iter(skeleton->progs.iter_processes, NULL);
	cleanup_fd int fd = -1;
	struct process_record record;
	size_t filled = 0;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t got = read(fd, (char *)&record + filled, sizeof(record) - filled);
		struct seed_argv seed = { 0 };
		size_t length;
		char *bytes;

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			break;
		filled += (size_t)got;
		if (filled < sizeof(record))
			continue;
		filled = 0;
		if (record.flags & PROCESS_KTHREAD || proc_read_cmdline(proc_fd, (pid_t)record.self.tgid, &bytes, &length) < 0)
			continue;
		seed.exec_id = record.exec_id;
		seed.is_cut = length > sizeof(seed.argv);
		seed.argv_len = seed.is_cut ? sizeof(seed.argv) : (__u32)length;
		memcpy(seed.argv, bytes, seed.argv_len);
		free(bytes);
		insert(bpf_map__fd(skeleton->maps.seeds), &record.self, &seed, BPF_ANY);
	}
	return run_iterator(skeleton->progs.seed_arguments);
}

static int attach(struct listenreap *skeleton, struct failure *ret_failure)
{
	struct {
		struct bpf_program *program;
		struct bpf_link **link;
	} hooks[] = {
		/* Births last: who is born witnessed must not exec or end unseen. */
		{ skeleton->progs.record_listen, &skeleton->links.record_listen },
		{ skeleton->progs.record_exec, &skeleton->links.record_exec },
		{ skeleton->progs.record_end, &skeleton->links.record_end },
		{ skeleton->progs.record_birth, &skeleton->links.record_birth },
	}, iterators[] = {
		{ skeleton->progs.iter_holders, &skeleton->links.iter_holders },
		{ skeleton->progs.iter_processes, &skeleton->links.iter_processes },
		{ skeleton->progs.iter_connections, &skeleton->links.iter_connections },
	};

	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		*hooks[i].link = bpf_program__attach_trace(hooks[i].program);
		if (!*hooks[i].link)
			return failure_set(ret_failure, -EOPNOTSUPP, "cannot attach %s: %s", bpf_program__name(hooks[i].program), strerror(errno));
	}
	for (size_t i = 0; i < sizeof(iterators) / sizeof(iterators[0]); i++) {
		*iterators[i].link = bpf_program__attach_iter(iterators[i].program, NULL);
		if (!*iterators[i].link)
			return failure_set(ret_failure, -EOPNOTSUPP, "cannot attach %s: %s", bpf_program__name(iterators[i].program),
					   strerror(errno));
	}
	return 0;
}

#define SEED_PASSES 3

/* Enters what already lives. Hooks are on: what they wrote is never overwritten. */
static int seed(struct listenreap *skeleton, const char *pin_dir, struct failure *ret_failure)
{
	struct timespec now;
	struct tracking_meta meta = { .layout = LISTENREAP_LAYOUT, .hook = skeleton->links.confirm_listen ? HOOK_FEXIT : HOOK_TRACEPOINT };
	cleanup_fd int proc_fd = -1;
	__u32 zero = 0;
	int err = proc_open(&proc_fd);

	if (err == 0)
		carry_over(skeleton, pin_dir);
	/* Again for what met an empty cache: entering what is there already changes nothing. */
	for (int pass = 0; pass < SEED_PASSES && err == 0; pass++)
		err = run_iterator(skeleton->progs.seed_births);
	if (err == 0)
		err = run_iterator(skeleton->progs.seed_links);
	if (err == 0)
		err = seed_arguments(skeleton, proc_fd);
	if (err == 0)
		err = run_iterator(skeleton->progs.seed_listeners);
	clock_gettime(CLOCK_BOOTTIME, &now);
	meta.since_boot_ns = (__u64)now.tv_sec * 1000000000u + (__u64)now.tv_nsec;
	clock_gettime(CLOCK_REALTIME, &now);
	meta.since_real_s = (__u64)now.tv_sec;
	snprintf(meta.version, sizeof(meta.version), "%s", VERSION);
	if (err == 0 && bpf_map_update_elem(bpf_map__fd(skeleton->maps.meta), &zero, &meta, BPF_ANY) < 0)
		err = -errno;
	return err < 0 ? failure_set(ret_failure, err, "cannot enter what already lives: %s", strerror(-err)) : 0;
}

/* Pins everything in `loading` and gives that its final name: a reader finds a whole directory or none. */
static int pin(struct listenreap *skeleton, const char *pin_dir, int dir_fd, struct failure *ret_failure)
{
	const int fds[PIN_MAX] = {
		[PIN_LISTENERS] = bpf_map__fd(skeleton->maps.listeners),
		[PIN_BIRTHS] = bpf_map__fd(skeleton->maps.births),
		[PIN_META] = bpf_map__fd(skeleton->maps.meta),
		[PIN_COUNTERS] = bpf_map__fd(skeleton->maps.counters),
		[PIN_SWITCHES] = bpf_map__fd(skeleton->maps.switches),
		[PIN_WAKEUPS] = bpf_map__fd(skeleton->maps.wakeups),
		[PIN_STOPS] = bpf_map__fd(skeleton->maps.stops),
		[PIN_TALLIES] = bpf_map__fd(skeleton->maps.tallies),
		[PIN_KEEPS] = bpf_map__fd(skeleton->maps.keeps),
		[PIN_RECORD_BIRTH] = bpf_link__fd(skeleton->links.record_birth),
		[PIN_RECORD_EXEC] = bpf_link__fd(skeleton->links.record_exec),
		[PIN_RECORD_END] = bpf_link__fd(skeleton->links.record_end),
		[PIN_RECORD_LISTEN] = bpf_link__fd(skeleton->links.record_listen),
		[PIN_ITER_HOLDERS] = bpf_link__fd(skeleton->links.iter_holders),
		[PIN_ITER_PROCESSES] = bpf_link__fd(skeleton->links.iter_processes),
		[PIN_ITER_CONNECTIONS] = bpf_link__fd(skeleton->links.iter_connections),
		[PIN_CONFIRM_LISTEN] = skeleton->links.confirm_listen ? bpf_link__fd(skeleton->links.confirm_listen) : -1,
	};
	char path[PATH_MAX + PINS_NAME_SIZE], name[PINS_NAME_SIZE];
	int err = 0;

	if (mkdirat(dir_fd, PINS_LOADING, 0700) < 0)
		return failure_set(ret_failure, -errno, "cannot make %s/%s: %s", pin_dir, PINS_LOADING, strerror(errno));
	for (int i = 0; i < PIN_MAX && err == 0; i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", pin_dir, PINS_LOADING, pin_names[i]);
		if (fds[i] >= 0 && bpf_obj_pin(fds[i], path) < 0)
			err = failure_set(ret_failure, -errno, "cannot pin %s: %s", path, strerror(errno));
	}
	pins_layout_name(name);
	if (err == 0 && renameat(dir_fd, PINS_LOADING, dir_fd, name) < 0)
		err = failure_set(ret_failure, -errno, "cannot rename %s/%s to %s: %s", pin_dir, PINS_LOADING, name, strerror(errno));
	if (err < 0)
		remove_pins(dir_fd, PINS_LOADING);
	return err;
}

/* Under the lock. */
static int replace_pins(struct listenreap *skeleton, const char *pin_dir, int dir_fd, bool *ret_repaired, struct failure *ret_failure)
{
	char name[PINS_NAME_SIZE];
	bool is_repaired = faccessat(dir_fd, PINS_LOADING, F_OK, 0) == 0;
	int err;

	pins_layout_name(name);
	is_repaired |= faccessat(dir_fd, name, F_OK, 0) == 0;
	err = remove_pins(dir_fd, PINS_LOADING);
	if (err == 0)
		err = remove_pins(dir_fd, name);
	if (err < 0)
		return failure_set(ret_failure, err, "cannot remove the incomplete pins in %s: %s", pin_dir, strerror(-err));
	err = attach(skeleton, ret_failure);
	if (err == 0)
		err = seed(skeleton, pin_dir, ret_failure);
	if (err == 0)
		err = pin(skeleton, pin_dir, dir_fd, ret_failure);
	if (err == 0 && (err = remove_layouts(dir_fd, name)) < 0)
		failure_set(ret_failure, err, "cannot remove the older pins in %s: %s", pin_dir, strerror(-err));
	*ret_repaired = is_repaired;
	return err;
}

int tracker_load(const char *pin_dir, bool *ret_loaded, bool *ret_repaired, struct failure *ret_failure)
{
	cleanup_skeleton struct listenreap *skeleton = NULL;
	bool needs_mount, was_made = false, was_repaired = false, was_there;
	cleanup_fd int dir_fd = -1;
	int err = check_surroundings(ret_failure);

	if (err == 0)
		err = check_pin_dir(pin_dir, ret_failure);
	if (err < 0)
		return err;
	needs_mount = err > 0;
	if (!needs_mount && is_loaded(pin_dir)) {
		*ret_loaded = *ret_repaired = false;
		return 0;
	}
	/* Everything that can be refused is tried before anything is made. */
	err = load_skeleton(pin_dir, &skeleton);
	if (err < 0)
		return explain_refusal(err, ret_failure);
	if (needs_mount && mount("bpf", BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RELATIME, "mode=0700") < 0)
		return failure_set(ret_failure, errno == EPERM ? -EPERM : -errno, "no bpf filesystem at %s and it cannot be mounted: %s; `mount -t bpf bpf %s` as root",
				   BPFFS, strerror(errno), BPFFS);
	err = lock_pin_dir(pin_dir, true, &was_made, &dir_fd, ret_failure);
	if (err < 0)
		return err;
	was_there = is_loaded(pin_dir);		/* another load was faster */
	if (!was_there)
		err = replace_pins(skeleton, pin_dir, dir_fd, &was_repaired, ret_failure);
	if (err < 0) {
		if (was_made)
			rmdir(pin_dir);
		return err;
	}
	*ret_loaded = !was_there;
	*ret_repaired = was_repaired;
	return 0;
}

int tracker_unload(const char *pin_dir, struct failure *ret_failure)
{
	cleanup_fd int dir_fd = -1;
	bool ignored;
	int err;

	if (access(pin_dir, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (!is_bpffs(pin_dir))
		return access(pin_dir, X_OK) < 0 ?
			       failure_set(ret_failure, -errno, "cannot look into %s: %s; run as root", pin_dir, strerror(errno)) :
			       failure_set(ret_failure, -EINVAL, "%s is not on a bpf filesystem: nothing of ours is there", pin_dir);
	err = lock_pin_dir(pin_dir, false, &ignored, &dir_fd, ret_failure);
	if (err == -ENOENT)
		return 0;
	if (err < 0)
		return err;
	err = remove_layouts(dir_fd, NULL);
	if (err < 0)
		return failure_set(ret_failure, err, "cannot remove the pins in %s: %s%s", pin_dir, strerror(-err),
				   err == -EACCES || err == -EPERM ? "; run as root" : "");
	/* A mount point or a directory that holds more stays. */
	if (rmdir(pin_dir) < 0 && errno != EBUSY && errno != ENOTEMPTY && errno != ENOENT && errno != EROFS)
		return failure_set(ret_failure, -errno, "cannot remove %s: %s", pin_dir, strerror(errno));
	return 0;
}

static void tell(void (*each)(const struct tracker_probe *, void *), void *arg, const char *name, bool is_required, bool is_ok,
		 const char *remedy)
{
	struct tracker_probe probe = { .name = name, .is_required = is_required, .is_ok = is_ok };

	if (!is_ok)
		snprintf(probe.remedy, sizeof(probe.remedy), "%s", remedy);
	each(&probe, arg);
}

int tracker_probe(const char *pin_dir, void (*each)(const struct tracker_probe *, void *), void *arg)
{
	char parent[PATH_MAX];

	struct failure failure;
	bool may_load = has_capability(CAP_SYS_ADMIN) || (has_capability(CAP_BPF) && has_capability(CAP_PERFMON));

	tell(each, arg, "initial pid and time namespace", true,
	     pins_check_namespaces(&failure) == 0,
	     "run listenreap on the host, not in a container");
	tell(each, arg, "CAP_BPF and CAP_PERFMON", true, may_load, "run as root");
	tell(each, arg, "CAP_KILL", true, has_capability(CAP_KILL), "run as root: what is due cannot be signalled");
	tell(each, arg, "CAP_SYS_PTRACE", true, has_capability(CAP_SYS_PTRACE), "run as root: other users' environments cannot be read");
	tell(each, arg, "type information (BTF)", true, has_btf(), "use a kernel with CONFIG_DEBUG_INFO_BTF=y");
	/* The one that the pins go to: below /sys/fs/bpf, load mounts it. */
	parent_of(pin_dir, parent);
	if (is_bpffs(pin_dir) || is_bpffs(parent))
		tell(each, arg, "bpf filesystem is writable", true, !is_read_only(is_bpffs(pin_dir) ? pin_dir : parent),
		     "it is mounted read-only: mount -o remount,rw it");
	else if (is_below(pin_dir, BPFFS))
		tell(each, arg, "bpf filesystem at " BPFFS, false, false, "`listenreap load` mounts it as root, or: mount -t bpf bpf " BPFFS);
	else
		tell(each, arg, "bpf filesystem", true, false, "--pin-dir is not on one: mount -t bpf bpf DIR");
	tell(each, arg, "pidfds", true, syscall(SYS_pidfd_send_signal, -1, 0, NULL, 0) < 0 && errno != ENOSYS, "use Linux 5.3 or newer");
	for (size_t i = 0; i < ABILITY_COUNT; i++) {
		char name[64];

		snprintf(name, sizeof(name), "program %s", abilities[i].program);
		tell(each, arg, name, true, may_load && loads_alone(abilities[i].program),
		     may_load ? abilities[i].what : "run as root to find out");
	}
	tell(each, arg, "program confirm_listen (fexit)", false, may_load && loads_alone("confirm_listen"),
	     may_load ? "not needed: the tracepoint serves instead" : "run as root to find out");
	return 0;
}
