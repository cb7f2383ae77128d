/* SPDX-License-Identifier: GPL-2.0-only */
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "proc.h"

/* argv and environ are the process's to choose; beyond this we say that we could not read it. */
#define FILE_LIMIT (8u << 20)

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define cleanup_fd __attribute__((cleanup(close_fd)))

int proc_open(int *ret_fd)
{
	struct statfs status;
	int fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &status) < 0 || status.f_type != PROC_SUPER_MAGIC) {
		close(fd);
		return -ENODEV;
	}
	*ret_fd = fd;
	return 0;
}

/* A process that ends while it is read answers ENOENT or ESRCH. */
static int gone(int error)
{
	return error == ENOENT ? -ESRCH : -error;
}

static int read_all(int fd, char **ret_bytes, size_t *ret_length)
{
	size_t room = 4096, length = 0;
	char *bytes = malloc(room);

	while (bytes) {
		ssize_t got = read(fd, bytes + length, room - length - 1);
		char *larger;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int err = gone(errno);

			free(bytes);
			return err;
		}
		length += (size_t)got;
		if (got == 0) {
			bytes[length] = '\0';
			*ret_bytes = bytes;
			*ret_length = length;
			return 0;
		}
		if (room - length > 1)
			continue;
		if (room >= FILE_LIMIT) {
			free(bytes);
			return -EFBIG;
		}
		room *= 2;
		larger = realloc(bytes, room);
		if (!larger)
			free(bytes);
		bytes = larger;
	}
	return -ENOMEM;
}

static int read_file(int proc_fd, pid_t pid, const char *name, char **ret_bytes, size_t *ret_length)
{
	char path[64];
	cleanup_fd int fd = -1;

	snprintf(path, sizeof(path), "%d/%s", pid, name);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? gone(errno) : read_all(fd, ret_bytes, ret_length);
}

/*
 * A leader that has exited leaves empty files and EACCES or ENOENT behind while its threads live on: what belongs to the process is
 * then read through one of them.
 */
static int read_process_file(int proc_fd, pid_t pid, const char *name, char **ret_bytes, size_t *ret_length)
{
	char path[64];
	pid_t tid;
	int err = read_file(proc_fd, pid, name, ret_bytes, ret_length);

	if (err == -ENOMEM || err == -EFBIG || (err == 0 && *ret_length > 0))
		return err;
	if (proc_live_thread(proc_fd, pid, &tid) < 0 || tid == pid)
		return err;
	if (err == 0)
		free(*ret_bytes);
	snprintf(path, sizeof(path), "task/%d/%s", tid, name);
	return read_file(proc_fd, pid, path, ret_bytes, ret_length);
}

/* One decimal number that ends at a blank or at the end; -EBADMSG for "1003b". */
static int parse_number(const char **text, const char *end, int64_t *ret)
{
	const char *at = *text;
	bool is_negative = at < end && *at == '-';
	uint64_t value = 0;
	int digits = 0;

	at += is_negative;
	for (; at < end && *at >= '0' && *at <= '9'; at++, digits++) {
		if (value > (UINT64_MAX - 9) / 10)
			return -EBADMSG;
		value = value * 10 + (uint64_t)(*at - '0');
	}
	if (digits == 0 || (at < end && *at != ' ' && *at != '\n') || value > INT64_MAX)
		return -EBADMSG;
	while (at < end && *at == ' ')
		at++;
	*ret = is_negative ? -(int64_t)value : (int64_t)value;
	*text = at;
	return 0;
}

int proc_parse_stat(const char *text, size_t length, struct proc_stat *ret)
{
	enum { PPID = 4, PGRP, SESSION, TTY_NR, START = 22 };
	const char *end = text + length, *open = memchr(text, '(', length), *close = memrchr(text, ')', length);
	struct proc_stat stat = { 0 };
	const char *at = text;
	int64_t value;
	size_t comm;

	if (!open || !close || close < open || end - close < 4 || close[1] != ' ' || close[3] != ' ' || open == text || open[-1] != ' ')
		return -EBADMSG;
	if (parse_number(&at, open, &value) < 0 || at != open || value <= 0)
		return -EBADMSG;
	comm = (size_t)(close - open - 1);
	if (comm >= sizeof(stat.comm))
		comm = sizeof(stat.comm) - 1;
	memcpy(stat.comm, open + 1, comm);
	stat.state = close[2];
	at = close + 4;
	for (int field = PPID; field <= START; field++) {
		if (parse_number(&at, end, &value) < 0)
			return -EBADMSG;
		switch (field) {
		case PPID: stat.ppid = (pid_t)value; break;
		case PGRP: stat.pgrp = (pid_t)value; break;
		case SESSION: stat.session = (pid_t)value; break;
		case TTY_NR: stat.tty_nr = (uint32_t)value; break;
		case START: stat.start_ticks = (uint64_t)value; break;
		default: break;
		}
	}
	if (stat.ppid < 0 || !isalpha((unsigned char)stat.state))
		return -EBADMSG;
	*ret = stat;
	return 0;
}

int proc_read_stat(int proc_fd, pid_t pid, struct proc_stat *ret)
{
	size_t length;
	char *text;
	int err = read_file(proc_fd, pid, "stat", &text, &length);

	if (err < 0)
		return err;
	err = proc_parse_stat(text, length, ret);
	free(text);
	return err;
}

int proc_read_cmdline(int proc_fd, pid_t pid, char **ret_bytes, size_t *ret_length)
{
	return read_process_file(proc_fd, pid, "cmdline", ret_bytes, ret_length);
}

int proc_read_environ(int proc_fd, pid_t pid, char **ret_bytes, size_t *ret_length)
{
	return read_process_file(proc_fd, pid, "environ", ret_bytes, ret_length);
}

int proc_read_cgroup(int proc_fd, pid_t pid, char **ret_bytes, size_t *ret_length)
{
	return read_process_file(proc_fd, pid, "cgroup", ret_bytes, ret_length);
}

int proc_live_thread(int proc_fd, pid_t pid, pid_t *ret_tid)
{
	struct proc_stat stat;
	struct dirent *entry;
	pid_t found = 0;
	char path[64];
	DIR *dir;
	int fd;

	if (proc_read_stat(proc_fd, pid, &stat) == 0 && stat.state != 'Z' && stat.state != 'X') {
		*ret_tid = pid;
		return 0;
	}
	snprintf(path, sizeof(path), "%d/task", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		close_fd(&fd);
		return -ESRCH;
	}
	while (!found && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		size_t length;
		char *text;

		snprintf(path, sizeof(path), "task/%d/stat", tid);
		if (tid <= 0 || tid == pid || read_file(proc_fd, pid, path, &text, &length) < 0)
			continue;
		if (proc_parse_stat(text, length, &stat) == 0 && stat.state != 'Z' && stat.state != 'X')
			found = tid;
		free(text);
	}
	closedir(dir);
	if (!found)
		return -ESRCH;
	*ret_tid = found;
	return 0;
}

int proc_read_exe(int proc_fd, pid_t pid, char **ret_path, bool *ret_is_deleted)
{
	static const char deleted[] = " (deleted)";
	char path[64], *target = malloc(PATH_MAX + sizeof(deleted));
	struct statx status;
	ssize_t length;
	pid_t tid;
	int err;

	if (!target)
		return -ENOMEM;
	err = proc_live_thread(proc_fd, pid, &tid);
	snprintf(path, sizeof(path), "%d/task/%d/exe", pid, err < 0 ? pid : tid);
	length = readlinkat(proc_fd, path, target, PATH_MAX + sizeof(deleted) - 1);
	if (length < 0) {
		err = gone(errno);
		free(target);
		return err;
	}
	target[length] = '\0';
	/*
	 * A file may really be named so: what counts is the inode. As it is in the cache: a FUSE or network server that does not answer (its
	 * user's to stop) would hold us for ever.
	 */
	*ret_is_deleted = statx(proc_fd, path, AT_STATX_DONT_SYNC, STATX_NLINK, &status) == 0 && status.stx_nlink == 0;
	if (*ret_is_deleted && (size_t)length > sizeof(deleted) - 1 && strcmp(target + length - (sizeof(deleted) - 1), deleted) == 0)
		target[(size_t)length - (sizeof(deleted) - 1)] = '\0';
	*ret_path = target;
	return 0;
}

int proc_read_namespaces(int proc_fd, pid_t pid, uint32_t *ret_pidns, uint32_t *ret_netns)
{
	struct stat status;
	char path[64];
	pid_t tid;

	if (proc_live_thread(proc_fd, pid, &tid) < 0)
		tid = pid;
	*ret_pidns = *ret_netns = 0;
	snprintf(path, sizeof(path), "%d/task/%d/ns/pid", pid, tid);
	if (fstatat(proc_fd, path, &status, 0) == 0)
		*ret_pidns = (uint32_t)status.st_ino;
	snprintf(path, sizeof(path), "%d/task/%d/ns/net", pid, tid);
	if (fstatat(proc_fd, path, &status, 0) == 0)
		*ret_netns = (uint32_t)status.st_ino;
	return *ret_pidns && *ret_netns ? 0 : gone(errno);
}

int proc_read_ids(int proc_fd, pid_t pid, struct proc_ids *ret)
{
	struct proc_ids ids;
	size_t length;
	char *text, *line;
	int err = read_file(proc_fd, pid, "status", &text, &length);

	if (err < 0)
		return err;
	/* The name comes first and is escaped by the kernel: no other line can begin so. */
	line = strstr(text, "\nUid:");
	err = line && sscanf(line, "\nUid: %u %u %u", &ids.ruid, &ids.euid, &ids.suid) == 3 ? 0 : -EBADMSG;
	free(text);
	if (err == 0)
		*ret = ids;
	return err;
}

/* "0100007F:1F90": the words of an address are printed in host order (net/ipv4/tcp_ipv4.c, get_tcp4_sock; net/ipv6/tcp_ipv6.c). */
static int parse_endpoint(const char **text, bool is_v6, struct address *ret, uint16_t *ret_port)
{
	struct address address = { .family = is_v6 ? AF_INET6 : AF_INET };
	const char *at = *text;
	char *end;

	while (*at == ' ')
		at++;
	for (int word = 0; word < (is_v6 ? 4 : 1); word++, at += 8) {
		char hex[9] = "";
		uint32_t value;

		strncpy(hex, at, 8);
		value = (uint32_t)strtoul(hex, &end, 16);
		if (strlen(hex) != 8 || end != hex + 8)
			return -EBADMSG;
		memcpy(address.bytes + word * 4, &value, sizeof(value));
	}
	if (*at != ':')
		return -EBADMSG;
	*ret_port = (uint16_t)strtoul(at + 1, &end, 16);
	if (end != at + 5)
		return -EBADMSG;
	*ret = address;
	*text = end;
	return 0;
}

int proc_parse_tcp_line(const char *line, bool is_v6, struct proc_tcp *ret)
{
	const char *at = strchr(line, ':');
	struct proc_tcp tcp = { 0 };
	unsigned long long inode;
	int err;

	if (!at)
		return -EBADMSG;
	at++;
	err = parse_endpoint(&at, is_v6, &tcp.local, &tcp.local_port);
	if (err == 0)
		err = parse_endpoint(&at, is_v6, &tcp.remote, &tcp.remote_port);
	if (err < 0)
		return err;
	/* st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode (proc_net_tcp.txt) */
	if (sscanf(at, "%2X %*8X:%*8X %*2X:%*X %*X %*d %*d %llu", &tcp.state, &inode) != 2)
		return -EBADMSG;
	tcp.inode = inode;
	*ret = tcp;
	return 0;
}

static int read_tcp(int proc_fd, pid_t pid, bool is_v6, int (*each)(const struct proc_tcp *, void *), void *arg)
{
	char path[64], line[512];
	FILE *file;
	int fd, err = 0;

	snprintf(path, sizeof(path), "%d/net/%s", pid, is_v6 ? "tcp6" : "tcp");
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err = gone(errno);
		/* A kernel without IPv6 has no tcp6; a process that has ended has no net/tcp either. */
		snprintf(path, sizeof(path), "%d/net/tcp", pid);
		return is_v6 && err == -ESRCH && faccessat(proc_fd, path, F_OK, 0) == 0 ? 0 : err;
	}
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	/* The first line is a heading. */
	if (!fgets(line, sizeof(line), file))
		err = ferror(file) ? -EIO : -ESRCH;
	while (err == 0 && fgets(line, sizeof(line), file)) {
		struct proc_tcp tcp;

		err = proc_parse_tcp_line(line, is_v6, &tcp);
		if (err == 0)
			err = each(&tcp, arg);
	}
	if (err == 0 && ferror(file))
		err = -EIO;
	fclose(file);
	return err;
}

int proc_read_tcp(int proc_fd, pid_t pid, int (*each)(const struct proc_tcp *, void *arg), void *arg)
{
	int err = read_tcp(proc_fd, pid, false, each, arg);

	return err == 0 ? read_tcp(proc_fd, pid, true, each, arg) : err;
}

uint64_t proc_ticks(uint64_t start_boot_ns)
{
	return start_boot_ns / (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
}

int proc_find_lock_owner(int proc_fd, ino_t inode, pid_t *ret)
{
	size_t length;
	char *text, *line, *rest;
	int fd = openat(proc_fd, "locks", O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = read_all(fd, &text, &length);
	close(fd);
	if (err < 0)
		return err;
	err = -ENOENT;
	for (line = strtok_r(text, "\n", &rest); line && err < 0; line = strtok_r(NULL, "\n", &rest)) {
		unsigned long long found;
		int pid;

		/* "1: FLOCK  ADVISORY  WRITE 4711 00:1b:1234 0 EOF" (proc_locks(5)) */
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %*x:%*x:%llu", &pid, &found) == 2 && found == inode) {
			*ret = pid;
			err = 0;
		}
	}
	free(text);
	return err;
}
