/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * What was observed, for the judge: one world a sweep. user/observe fills and owns it; the judge reads it and writes
 * nothing but the memo fields named so. Processes, listeners and connections refer to each other by index; an index
 * stays valid while the world grows. Times are CLOCK_BOOTTIME nanoseconds.
 */
#include <stdbool.h>
#include <stdint.h>
#include "../../bpf/listenreap.h"
#include "addr.h"
#include "argv.h"
#include "program.h"

#define NONE (-1)	/* no such index */

/* Facts that cost something are gathered only when the judge asks for them (policy.h, enum need_kind). */
enum fact_state { FACT_NOT_ASKED, FACT_KNOWN, FACT_UNREADABLE };

struct process {
	struct process_id id;
	int birth_parent;		/* index; NONE: not recorded */
	bool is_recorded;		/* there is a birth entry for it */
	bool is_witnessed;		/* its fork was seen, so birth_parent is its birth parent; else its parent at load */
	bool has_execed;		/* false: one with the process that forked it */
	bool is_exe_root_only;		/* only root can write to the file it runs */
	bool is_self_or_ancestor;	/* listenreap itself or an ancestor of it (by birth or by parent now) */
	uint64_t end_boot_ns;		/* 0: alive */
	uint32_t uid;			/* effective, now (or at its end) */
	uint32_t tty;			/* controlling terminal, last seen; 0 none */
	uint32_t parent_tty;		/* birth parent's terminal when it forked this one */
	const char *comm;		/* as set by its last exec */
	const char *comm_now;		/* of a holder: what it calls itself now; NULL not asked */
	const char *exe;		/* basename of the executable; NULL not known */
	struct argv argv;		/* as given to exec where witnessed; completed from /proc when that agrees */
	struct program program;		/* identified from the above by observe through program_identify() */

	/* Live: from the process table (NEED_PROCESSES). Unset (is_in_table false) for the ended. */
	bool is_in_table;
	int parent_now, first_child, next_sibling;	/* by parent now */
	bool is_kthread, is_ns_init, is_stopped, is_foreign_pidns;
	bool is_mixed_uid;		/* real, effective and saved uid differ */
	uint32_t netns;			/* 0 not readable */

	int first_held;			/* index into world.holders: the listeners it holds; NONE */

	/* Live: from /proc (NEED_DETAILS). */
	enum fact_state details;
	const char *exe_path;		/* whole path, " (deleted)" removed only when the inode is unlinked; NULL not readable */
	const char *cgroup;		/* all lines of /proc/PID/cgroup; NULL not readable */
	uint32_t pidns;			/* inode; 0 not readable */

	/* Live: from /proc (NEED_ENVIRON). */
	enum fact_state environ;
	struct argv environment;	/* NAME=VALUE tokens; never printed */

	/* Live: whole argv (NEED_CMDLINE), when argv is cut or was missed; afterwards FACT_KNOWN with argv completed, or FACT_UNREADABLE. */
	enum fact_state cmdline;

	/* Memo of the judge, zeroed by observe. */
	struct {
		int8_t keeper[2];	/* enum keeper + 1, without and with a terminal; 0 not asked yet */
		int32_t candidate;	/* first rule that may name it, + 1; 0 not asked yet */
		uint32_t mark;		/* of the last tree walk that met it (world.memo_mark) */
		bool is_environ_read;	/* opt_out is known */
		const char *opt_out;	/* the marker in its environment; NULL none */
		bool is_doomed;		/* in a tree that is already due in this sweep */
		uint32_t reaping;	/* the reaper's: number of the reaping that has pinned it; 0 none */
	} memo;
};

/* One descriptor table entry: this process holds that listener. Holders of one listener are consecutive. */
struct holder {
	int process;
	int listener;
	int next_held;			/* next entry of the same process; NONE */
};

struct listener {
	uint64_t inode;
	uint16_t protocol;		/* IPPROTO_TCP or 262 */
	struct address address;
	uint16_t port;
	uint32_t netns;
	uint32_t bound_dev;
	bool is_v6only, is_reuseport;
	uint64_t opened_boot_ns;
	bool is_age_exact;		/* false: opened_boot_ns is when the tracker first saw it; false and 0: no record at all */
	int opener;			/* index; NONE: not recorded */
	struct process_id opener_id;	/* tgid 0 not witnessed */
	uint32_t opener_uid;
	const char *opener_comm;	/* at listen() */
	int first_holder, holder_count;	/* into world.holders */

	bool is_kept;			/* a `keep` entry for the port, not run out */
	bool has_stop;			/* we stopped this rule and address before; asked for by NEED_STOP */
	enum fact_state stop;
	uint64_t stopped_boot_ns;
	struct process_id respawner;	/* who starts it again, as far as known; tgid 0 not */

	/* Memo of the judge, zeroed by observe. */
	struct {
		bool is_judged_alone;
		uint8_t verdict, reason;	/* enum verdict_kind, enum reason; judged alone */
		int rule;
		uint64_t due_boot_ns;
	} memo;
};

/* An ESTABLISHED connection, or one that waits in a listener's queue (queue is then the listener's index). */
struct connection {
	int holder;			/* process index; NONE: nobody's descriptor */
	int queue;			/* listener index; NONE */
	uint32_t netns;
	struct address local, remote;
	uint16_t local_port, remote_port;
};

/* A TIME_WAIT whose local side is this; less than a minute old by its nature. */
struct time_wait {
	uint32_t netns;
	struct address local;
	uint16_t local_port;
};

struct world {
	uint32_t host_netns, host_pidns;
	struct process *processes;
	int process_count;
	struct listener *listeners;
	int listener_count;
	struct holder *holders;
	int holder_count;
	struct connection *connections;
	int connection_count;
	struct time_wait *time_waits;
	int time_wait_count;
	enum fact_state process_table;		/* NEED_PROCESSES */
	enum fact_state connection_table;	/* NEED_CONNECTIONS: connections and time_waits of every namespace that matters */
	uint32_t dues;				/* trees already due in this sweep (limit); policy_count_due() */
	uint32_t memo_mark;
};
