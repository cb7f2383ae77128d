/* SPDX-License-Identifier: GPL-2.0-only */
/* What /proc says, also when a process chose the words. F9: a malformed row is refused, never half read. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
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
