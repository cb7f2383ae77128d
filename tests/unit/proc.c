/* SPDX-License-Identifier: GPL-2.0-only */
/* What /proc says, also when a process chose the words. F9: a malformed row is refused, never half read. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../user/observe/proc.h"

#define TAIL " 1 42 42 34816 42 4194560 0 0 0 0 0 0 0 0 20 0 1 0 98765 0 0"

Test(proc, stat_lines)
{
	static const struct {
		const char *sentence, *text;
		int err;
		const char *comm;
	} rows[] = {
		{ "an ordinary one", "1003 (bash) S" TAIL, 0, "bash" },
		{ "F9: a pid that is none", "1003b (bash) S" TAIL, -EBADMSG, NULL },
		{ "no pid", "(bash) S" TAIL, -EBADMSG, NULL },
		{ "a comm with a bracket and a state", "7 (a) R 1 2) S" TAIL, 0, "a) R 1 2" },
		{ "a comm with a newline", "7 (a\nb) S" TAIL, 0, "a\nb" },
		{ "an empty comm", "7 () S" TAIL, 0, "" },
		{ "no closing bracket", "7 (bash S" TAIL, -EBADMSG, NULL },
		{ "cut in the middle", "7 (bash) S 1 42 42", -EBADMSG, NULL },
		{ "a field that is none", "7 (bash) S 1 x" TAIL, -EBADMSG, NULL },
		{ "nothing", "", -EBADMSG, NULL },
		{ "a negative terminal group", "7 (bash) S 1 42 42 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 98765 0", 0, "bash" },
		{ "a number beyond all", "7 (bash) S 1 42 42 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99999999999999999999999 0", -EBADMSG, NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct proc_stat stat = { .ppid = 77 };

		cr_expect_eq(proc_parse_stat(rows[i].text, strlen(rows[i].text), &stat), rows[i].err, "%s", rows[i].sentence);
		if (rows[i].err) {
			cr_expect_eq(stat.ppid, 77, "%s: touched", rows[i].sentence);
			continue;
		}
		cr_expect_str_eq(stat.comm, rows[i].comm, "%s", rows[i].sentence);
		cr_expect_eq(stat.ppid, 1, "%s", rows[i].sentence);
		cr_expect_eq(stat.start_ticks, 98765, "%s", rows[i].sentence);
	}
}

Test(proc, tcp_lines)
{
	static const char v6[] = "  12: 00000000000000000000000001000000:0050 00000000000000000000000001000000:C350 01 00000000:00000000 00:00000000 00000000"
				 "  1000        0 4711 1 0000000000000000 20 4 30 10 -1";
	struct proc_tcp tcp;

	cr_assert_eq(proc_parse_tcp_line("   0: 0100007F:1F90 0200007F:C350 06 00000000:00000000 03:00000176 00000000     0        0 0 3 0000000000000000",
					 false, &tcp), 0);
	cr_expect_eq(tcp.local_port, 8080);
	cr_expect_eq(tcp.remote_port, 50000);
	cr_expect_eq(tcp.state, PROC_TCP_TIME_WAIT);
	cr_expect_eq(tcp.local.bytes[0], 127);
	cr_expect_eq(tcp.local.bytes[3], 1);
	cr_expect_eq(tcp.remote.bytes[3], 2);
	cr_expect_eq(tcp.inode, 0);
	cr_assert_eq(proc_parse_tcp_line(v6, true, &tcp), 0);
	cr_expect_eq(tcp.local.bytes[15], 1);
	cr_expect_eq(tcp.local_port, 80);
	cr_expect_eq(tcp.inode, 4711);
	cr_expect_eq(proc_parse_tcp_line("", false, &tcp), -EBADMSG);
	cr_expect_eq(proc_parse_tcp_line("0: 0100007F", false, &tcp), -EBADMSG);
	cr_expect_eq(proc_parse_tcp_line("0: 0100007G:1F90 0100007F:C350 06 0:0 0:0 0 0 0 0", false, &tcp), -EBADMSG);
	cr_expect_eq(proc_parse_tcp_line("0: 0100007F:1F90 0100007F:C350 06 0:0 0:0 0 0 0 0", true, &tcp), -EBADMSG);
	cr_expect_eq(proc_parse_tcp_line("0: 0100007F:1F90 0100007F:C350 06", false, &tcp), -EBADMSG);
}

Test(proc, itself)
{
	struct proc_stat stat;
	struct proc_ids ids;
	uint32_t pidns, netns;
	bool is_deleted;
	size_t length;
	char *text;
	int fd;

	cr_assert_eq(proc_open(&fd), 0);
	cr_assert_eq(proc_read_stat(fd, getpid(), &stat), 0);
	cr_expect_eq(stat.ppid, getppid());
	cr_assert_eq(proc_read_ids(fd, getpid(), &ids), 0);
	cr_expect_eq(ids.euid, geteuid());
	cr_assert_eq(proc_read_namespaces(fd, getpid(), &pidns, &netns), 0);
	cr_expect(pidns && netns);
	cr_assert_eq(proc_read_exe(fd, getpid(), &text, &is_deleted), 0);
	cr_expect_not(is_deleted);
	free(text);
	cr_assert_eq(proc_read_environ(fd, getpid(), &text, &length), 0);
	free(text);
	cr_expect_eq(proc_read_stat(fd, 0x7fffffff, &stat), -ESRCH);
	cr_expect_eq(proc_read_cmdline(fd, 0x7fffffff, &text, &length), -ESRCH);
	close(fd);
}

/* A /proc of our own making: what a process, or a kernel in a bad moment, could answer. */

struct stage {
	char folder[64];
	int fd;
};

static void stage_open(struct stage *stage)
{
	strcpy(stage->folder, "/tmp/listenreap-proc-XXXXXX");
	cr_assert_not_null(mkdtemp(stage->folder));
	stage->fd = open(stage->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cr_assert(stage->fd >= 0);
}

static void stage_close(struct stage *stage)
{
	char command[96];

	close(stage->fd);
	snprintf(command, sizeof(command), "rm -rf '%s'", stage->folder);
	cr_expect_eq(system(command), 0);
}

#define AUTO_STAGE __attribute__((cleanup(stage_close))) struct stage

/* The folders on the way too. */
static void put_bytes(const struct stage *stage, const char *path, const char *bytes, size_t length)
{
	char part[128];
	int fd;

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		cr_assert(mkdirat(stage->fd, part, 0755) == 0 || errno == EEXIST);
	}
	fd = openat(stage->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	cr_assert(fd >= 0 && write(fd, bytes, length) == (ssize_t)length, "%s", path);
	close(fd);
}

static void put(const struct stage *stage, const char *path, const char *text)
{
	put_bytes(stage, path, text, strlen(text));
}

Test(proc, a_malformed_row_is_refused)
{
	static const struct {
		const char *sentence, *stat, *status;
		int stat_err, ids_err;
	} rows[] = {
		{ "as it should be", "7 (x) S" TAIL, "Name:\tx\nUid:\t1\t2\t3\t4\n", 0, 0 },
		{ "F9: a pid that is none", "7b (x) S" TAIL, "Name:\tx\nUid:\t1b\t2\t3\t4\n", -EBADMSG, -EBADMSG },
		{ "empty", "", "", -EBADMSG, -EBADMSG },
		{ "too few", "7 (x) S 1", "Name:\tx\nUid:\t1\t2\n", -EBADMSG, -EBADMSG },
		{ "no such line", "\n", "Name:\tx\nGid:\t1\t2\t3\t4\n", -EBADMSG, -EBADMSG },
		{ "a name that pretends, escaped as the kernel does", "7 (\nUid:) S" TAIL, "Name:\t\\nUid:\t9\t9\t9\nUid:\t1\t2\t3\t4\n", 0, 0 },
		{ "only a name that pretends", "7 (x) S" TAIL, "Name:\tUid:\t9\t9\t9\n", 0, -EBADMSG },
	};
	AUTO_STAGE stage;

	stage_open(&stage);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct proc_stat stat = { .ppid = 77 };
		struct proc_ids ids = { 77, 77, 77 };

		put(&stage, "7/stat", rows[i].stat);
		put(&stage, "7/status", rows[i].status);
		cr_expect_eq(proc_read_stat(stage.fd, 7, &stat), rows[i].stat_err, "%s", rows[i].sentence);
		cr_expect_eq(stat.ppid, rows[i].stat_err ? 77 : 1, "%s", rows[i].sentence);
		cr_expect_eq(proc_read_ids(stage.fd, 7, &ids), rows[i].ids_err, "%s", rows[i].sentence);
		cr_expect(ids.ruid == (rows[i].ids_err ? 77u : 1u) && ids.euid == (rows[i].ids_err ? 77u : 2u) &&
			  ids.suid == (rows[i].ids_err ? 77u : 3u), "%s", rows[i].sentence);
	}
}

/* A leader that has exited leaves its threads: the process lives on, and its facts are read through one of them. */
Test(proc, a_leader_that_has_exited)
{
	static const struct {
		const char *sentence, *leader, *thread;	/* their states */
		int err;
		pid_t tid;
		const char *cmdline;
	} rows[] = {
		{ "lives", "7 (x) S" TAIL, "8 (x) S" TAIL, 0, 7, "" },
		{ "has exited, a thread lives", "7 (x) Z" TAIL, "8 (x) S" TAIL, 0, 8, "of the thread" },
		{ "is dead, a thread lives", "7 (x) X" TAIL, "8 (x) R" TAIL, 0, 8, "of the thread" },
		{ "has exited, and so has the thread", "7 (x) Z" TAIL, "8 (x) Z" TAIL, -ESRCH, 0, "" },
		{ "has exited, the thread is malformed", "7 (x) Z" TAIL, "8b (x) S" TAIL, -ESRCH, 0, "" },
	};
	AUTO_STAGE stage;

	stage_open(&stage);
	put(&stage, "7/cmdline", "");
	put(&stage, "7/task/8/cmdline", "of the thread");
	put(&stage, "7/task/rubbish/stat", "8 (x) S" TAIL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t length = 42;
		char *text = NULL;
		pid_t tid = 0;

		put(&stage, "7/stat", rows[i].leader);
		put(&stage, "7/task/7/stat", rows[i].leader);
		put(&stage, "7/task/8/stat", rows[i].thread);
		cr_expect_eq(proc_live_thread(stage.fd, 7, &tid), rows[i].err, "%s", rows[i].sentence);
		cr_expect_eq(tid, rows[i].tid, "%s: %d", rows[i].sentence, tid);
		cr_assert_eq(proc_read_cmdline(stage.fd, 7, &text, &length), 0, "%s", rows[i].sentence);
		cr_expect_str_eq(text, rows[i].cmdline, "%s", rows[i].sentence);
		cr_expect_eq(length, strlen(rows[i].cmdline), "%s", rows[i].sentence);
		free(text);
	}
}

Test(proc, megabytes_are_read_whole_or_not_at_all)
{
	const size_t largest = 6u << 20;	/* what exec accepts at most: fs/exec.c, three quarters of _STK_LIM */
	AUTO_STAGE stage;
	size_t length = 0;
	char *text = NULL;

	stage_open(&stage);
	put(&stage, "7/stat", "7 (x) S" TAIL);
	put(&stage, "7/environ", "");
	cr_assert_eq(fchmodat(stage.fd, "7/environ", 0600, 0), 0);
	for (size_t size = 4094; size <= 4098; size++) {
		char *bytes = malloc(size);

		memset(bytes, 'x', size);
		put_bytes(&stage, "7/cmdline", bytes, size);
		cr_assert_eq(proc_read_cmdline(stage.fd, 7, &text, &length), 0);
		cr_expect(length == size && memcmp(text, bytes, size) == 0 && text[size] == '\0', "%zu", size);
		free(text);
		free(bytes);
	}
	int fd = openat(stage.fd, "7/environ", O_WRONLY | O_CLOEXEC);

	cr_assert_eq(ftruncate(fd, (off_t)largest), 0);
	cr_assert_eq(proc_read_environ(stage.fd, 7, &text, &length), 0);
	cr_expect(length == largest && text[length] == '\0');
	free(text);
	text = NULL;
	cr_assert_eq(ftruncate(fd, 64 << 20), 0);
	cr_expect_eq(proc_read_environ(stage.fd, 7, &text, &length), -EFBIG);
	cr_expect_null(text);
	close(fd);
}

static int count_tcp(const struct proc_tcp *tcp, void *arg)
{
	int *count = arg;

	(void)tcp;
	return ++*count == 2 ? -ECANCELED : 0;
}

Test(proc, tables_of_sockets)
{
#define HEADING "  sl  local_address rem_address   st\n"
#define SOCKET "   0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 5 1 0000000000000000\n"
#define SOCKET6 "   0: 00000000000000000000000001000000:0050 00000000000000000000000001000000:C350 01 00000000:00000000 00:00000000 00000000  0 0 4711 1\n"
	static const struct {
		const char *sentence, *tcp, *tcp6;	/* NULL: not there */
		int err, count;
	} rows[] = {
		{ "nothing but headings", HEADING, HEADING, 0, 0 },
		{ "one", HEADING SOCKET, HEADING, 0, 1 },
		{ "a kernel without IPv6", HEADING SOCKET, NULL, 0, 1 },
		{ "told to stop", HEADING SOCKET, HEADING SOCKET6 SOCKET6, -ECANCELED, 2 },
		{ "told to stop in the first", HEADING SOCKET SOCKET SOCKET, HEADING, -ECANCELED, 2 },
		{ "gone", NULL, NULL, -ESRCH, 0 },
		{ "no heading", "", HEADING, -ESRCH, 0 },
		{ "F9: a malformed row behind a good one", HEADING SOCKET "   1: 0100007Z:1F90\n", HEADING, -EBADMSG, 1 },
		{ "a row of IPv4 among those of IPv6", HEADING, HEADING SOCKET, -EBADMSG, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		AUTO_STAGE stage;
		int count = 0;

		stage_open(&stage);
		if (rows[i].tcp)
			put(&stage, "7/net/tcp", rows[i].tcp);
		if (rows[i].tcp6)
			put(&stage, "7/net/tcp6", rows[i].tcp6);
		cr_expect_eq(proc_read_tcp(stage.fd, 7, count_tcp, &count), rows[i].err, "%s", rows[i].sentence);
		cr_expect_eq(count, rows[i].count, "%s: %d", rows[i].sentence, count);
	}
}

Test(proc, who_holds_the_lock)
{
	static const struct {
		const char *sentence, *line;
		int err;
	} rows[] = {
		{ "an flock", "1: FLOCK  ADVISORY  WRITE 4711 00:1b:1234 0 EOF\n", 0 },
		{ "behind another", "1: FLOCK  ADVISORY  WRITE 5 00:1b:12345 0 EOF\n2: FLOCK  ADVISORY  READ 4711 fe:01:1234 0 EOF", 0 },
		{ "nobody", "", -ENOENT },
		{ "one who only waits", "1: FLOCK  ADVISORY  WRITE 5 00:1b:9 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 4711 00:1b:1234 0 EOF\n", -ENOENT },
		{ "another kind of lock", "1: POSIX  ADVISORY  WRITE 4711 00:1b:1234 0 EOF\n", -ENOENT },
		{ "another file", "1: FLOCK  ADVISORY  WRITE 4711 00:1b:123 0 EOF\n", -ENOENT },
		{ "malformed", "1: FLOCK ADVISORY WRITE x 00:1b:1234\nFLOCK\n:\n", -ENOENT },
	};
	AUTO_STAGE stage;
	pid_t owner = 77;

	stage_open(&stage);
	cr_expect_eq(proc_find_lock_owner(stage.fd, 1234, &owner), -ENOENT, "no such file");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		owner = 77;
		put(&stage, "locks", rows[i].line);
		cr_expect_eq(proc_find_lock_owner(stage.fd, 1234, &owner), rows[i].err, "%s", rows[i].sentence);
		cr_expect_eq(owner, rows[i].err ? 77 : 4711, "%s: %d", rows[i].sentence, owner);
	}
}

/* Real processes: the kernel's " (deleted)", and a file that is really named so. */
Test(proc, an_executable_that_was_removed)
{
	static const struct {
		const char *sentence, *name;
		bool is_removed;
	} rows[] = {
		{ "there", "cat", false },
		{ "removed", "cat", true },
		{ "there, and named so", "cat (deleted)", false },
		{ "named so, and removed", "cat (deleted)", true },
	};
	AUTO_STAGE stage;
	int proc_fd;

	stage_open(&stage);
	cr_assert_eq(proc_open(&proc_fd), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[128], command[256], byte = 'x', *found;
		int to[2], from[2];
		bool is_deleted;
		pid_t pid;

		snprintf(path, sizeof(path), "%s/%s", stage.folder, rows[i].name);
		snprintf(command, sizeof(command), "cp /bin/cat '%s'", path);
		cr_assert(system(command) == 0 && pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
		pid = fork();
		if (pid == 0) {
			dup2(to[0], 0);
			dup2(from[1], 1);
			execl(path, "cat", NULL);
			_exit(127);
		}
		close(to[0]);
		close(from[1]);
		/* What it sends back says that it has called exec. */
		cr_assert(pid > 0 && write(to[1], &byte, 1) == 1 && read(from[0], &byte, 1) == 1, "%s", rows[i].sentence);
		if (rows[i].is_removed)
			cr_assert_eq(unlink(path), 0);
		cr_assert_eq(proc_read_exe(proc_fd, pid, &found, &is_deleted), 0);
		cr_expect_str_eq(found, path, "%s: %s", rows[i].sentence, found);
		cr_expect_eq(is_deleted, rows[i].is_removed, "%s", rows[i].sentence);
		free(found);
		close(to[1]);
		close(from[0]);
		cr_assert_eq(waitpid(pid, NULL, 0), pid);
		if (!rows[i].is_removed)
			unlink(path);
	}
	close(proc_fd);
}
