/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * The only reader of /proc. proc_fd is an open directory (normally /proc; tests pass their own). Everything is read
 * once, whole, into memory the caller frees; hostile content (argv of megabytes, comm with parentheses and newlines) is
 * data. 0 or negative errno: -ESRCH when the process is gone, -EACCES/-EPERM when it may not be read, -EFBIG above the limit.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "../judge/addr.h"

/* Opens /proc O_PATH|O_DIRECTORY; checks that it is procfs. */
int proc_open(int *ret_fd);

struct proc_stat {
	char comm[64];
	char state;		/* R S D T t Z X I */
	pid_t ppid, pgrp, session;
	uint32_t tty_nr;
	uint64_t start_ticks;	/* field 22, clock ticks since boot (sysconf(_SC_CLK_TCK)) */
};
/* proc_pid_stat(5); the comm ends at the last ')'. */
int proc_read_stat(int proc_fd, pid_t pid, struct proc_stat *ret);
int proc_parse_stat(const char *text, size_t length, struct proc_stat *ret);	/* -EBADMSG: malformed ("1003b") */

/* Whole files. The buffer ends with an extra NUL that is not counted. limit bounds the size (argv, environ: up to 8 MiB). */
int proc_read_cmdline(int proc_fd, pid_t pid, char **ret_bytes, size_t *ret_length);
int proc_read_environ(int proc_fd, pid_t pid, char **ret_bytes, size_t *ret_length);
int proc_read_cgroup(int proc_fd, pid_t pid, char **ret_bytes, size_t *ret_length);
/* readlink of exe. " (deleted)" is removed only when the file is unlinked (st_nlink 0), *ret_is_deleted says so. */
int proc_read_exe(int proc_fd, pid_t pid, char **ret_path, bool *ret_is_deleted);
/* Inode numbers of ns/pid and ns/net; 0 where it cannot be read. */
int proc_read_namespaces(int proc_fd, pid_t pid, uint32_t *ret_pidns, uint32_t *ret_netns);
struct proc_ids {
	uint32_t ruid, euid, suid;
};
int proc_read_ids(int proc_fd, pid_t pid, struct proc_ids *ret);	/* /proc/PID/status */
/* Facts of a process whose leader has exited are read through a live thread: its tid, or pid itself. */
int proc_live_thread(int proc_fd, pid_t pid, pid_t *ret_tid);

/* One line of /proc/net/tcp or tcp6. */
struct proc_tcp {
	struct address local, remote;
	uint16_t local_port, remote_port;
	unsigned state;			/* include/net/tcp_states.h */
	uint64_t inode;			/* 0: no socket yet (it waits in an accept queue), or no more (TIME_WAIT) */
};
#define PROC_TCP_ESTABLISHED 1
#define PROC_TCP_TIME_WAIT 6
/* Every TCP socket of the network namespace that pid lives in (/proc/PID/net/tcp and tcp6). each returns 0 to go on. */
int proc_read_tcp(int proc_fd, pid_t pid, int (*each)(const struct proc_tcp *, void *arg), void *arg);
int proc_parse_tcp_line(const char *line, bool is_v6, struct proc_tcp *ret);

/* Who holds an flock(2) on this inode (/proc/locks); -ENOENT: nobody that is shown. */
int proc_find_lock_owner(int proc_fd, ino_t inode, pid_t *ret);

/* Start time in clock ticks as /proc/PID/stat shows it for this boot time in ns (floor). */
uint64_t proc_ticks(uint64_t start_boot_ns);
