/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * The records that both halves share. Times are CLOCK_BOOTTIME nanoseconds. u64 first, then 32, 16, 8;
 * every pad is explicit and zero. The BPF half writes down what cannot be read later and judges nothing;
 * user space reads these records as facts and never writes them (stops and keeps are its own).
 *
 * LISTENREAP_LAYOUT names the directory of the pins (PIN_DIR/v1). Any change of size or meaning below is
 * a new number.
 */
#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define LISTENREAP_LAYOUT 1

#define ARGV_HEAD 256	/* bytes of argv kept of every process; a longer one is marked cut */
#define EXE_HEAD 40	/* basename of the executable; the kernel keeps names of up to 39 bytes inline in the dentry */
#define COMM_SIZE 16	/* TASK_COMM_LEN */

/* A process for ever: a tgid is reused, (tgid, start) is not. start is task_struct.start_boottime of the leader. */
struct process_id {
	__u64 start_boot_ns;
	__u32 tgid;	/* 0: no process */
	__u32 pad;
};
_Static_assert(sizeof(struct process_id) == 16, "process_id is part of the layout");

enum birth_flag {
	BIRTH_WITNESSED = 1 << 0,	/* its fork was seen; else it was entered at load and parent is its parent then */
	BIRTH_EXECED = 1 << 1,		/* it called exec (of a not witnessed process: taken as true) */
	BIRTH_ENDED = 1 << 2,		/* the last thread has ended; a zombie has ended */
	BIRTH_LINKED = 1 << 3,		/* this entry is counted in its parent's refs */
	BIRTH_ARGV_CUT = 1 << 4,	/* argv holds the first ARGV_HEAD bytes of a longer one */
	BIRTH_ARGV_MISSED = 1 << 5,	/* argv could not be read: empty here, not empty there */
	BIRTH_EXE_CUT = 1 << 6,		/* exe could not be kept whole */
	BIRTH_EXE_ROOT_ONLY = 1 << 7,	/* file of the last exec: owned by root, not writable by group (unless root's) or others */
};

/* What is known of one process, kept in `births` from its fork until its last recorded descendant has ended. */
struct birth {
	struct process_id self;		/* equals the map key once the entry is whole; else: being written, read again */
	struct process_id parent;	/* the process that forked it; of a not witnessed one its parent at load */
	__u64 exec_boot_ns;		/* last exec, 0 none seen */
	__u64 end_boot_ns;		/* 0 while it lives */
	__u32 refs;			/* 1 while it lives, and 1 for each entry whose parent this is */
	__u32 flags;			/* enum birth_flag */
	__u32 uid;			/* effective uid at fork, exec or load, whichever was last */
	__u32 session;			/* session id in the initial pid namespace, as last seen */
	__u32 tty;			/* controlling terminal as /proc/PID/stat numbers it, as last seen; 0 none */
	__u32 parent_tty;		/* the parent's terminal when it forked this process */
	__s32 exit_code;		/* as wait(2) gives it */
	__u32 exec_seq;			/* odd while an exec rewrites the fields below */
	__u32 argv_len;			/* bytes used in argv, with the NUL behind each argument */
	__u32 pad;
	char comm[COMM_SIZE];		/* as the last exec set it, not as it was renamed since */
	char exe[EXE_HEAD];		/* basename of the executable of the last exec; empty if not known */
	char argv[ARGV_HEAD];		/* arguments as given to exec, each ended by NUL */
};
_Static_assert(sizeof(struct birth) == 400, "birth is part of the layout");

enum listen_flag {
	LISTEN_WITNESSED = 1 << 0,	/* the call was seen; else opened_boot_ns is when the tracker first saw the socket */
	LISTEN_CONFIRMED = 1 << 1,	/* fexit/inet_listen saw it return 0 */
};

/* Kept on the socket itself (socket storage), started anew at each transition into LISTEN. */
struct listen_record {
	__u64 opened_boot_ns;
	struct process_id opener;	/* tgid 0: not witnessed */
	__u32 opener_uid;
	__u32 flags;			/* enum listen_flag */
	char opener_comm[COMM_SIZE];
};
_Static_assert(sizeof(struct listen_record) == 48, "listen_record is part of the layout");

enum holder_flag {
	HOLDER_V6ONLY = 1 << 0,
	HOLDER_HAS_RECORD = 1 << 1,	/* listen is filled */
	HOLDER_REUSEPORT = 1 << 2,
	HOLDER_NS_INIT = 1 << 3,	/* the holder is pid 1 of its pid namespace */
	HOLDER_FOREIGN_PIDNS = 1 << 4,	/* the holder's pid namespace lies below the initial one */
};

/* iter_holders: one for each (process, descriptor) of a TCP or MPTCP socket in LISTEN, in every network namespace. */
struct holder_record {
	__u64 inode;
	__u64 cookie;
	struct process_id holder;
	struct listen_record listen;
	__u32 netns;		/* inode number of the socket's network namespace */
	__u32 bound_dev;	/* interface index, 0 any */
	__u32 uid;		/* effective uid of the holder */
	__u32 flags;		/* enum holder_flag */
	__u8 address[16];	/* network order; IPv4 in the first 4 bytes */
	__u16 port;		/* host order */
	__u16 family;		/* AF_INET, AF_INET6 */
	__u16 protocol;		/* IPPROTO_TCP, IPPROTO_MPTCP (262) */
	__u16 pad;
	char comm[COMM_SIZE];	/* of the holder, now */
};
_Static_assert(sizeof(struct holder_record) == 136, "holder_record is part of the layout");

enum process_flag {
	PROCESS_KTHREAD = 1 << 0,
	PROCESS_NS_INIT = 1 << 1,	/* pid 1 of its pid namespace (SIGNAL_UNKILLABLE) */
	PROCESS_STOPPED = 1 << 2,
	PROCESS_LEADER_EXITED = 1 << 3,	/* other threads live on */
	PROCESS_FOREIGN_PIDNS = 1 << 4,	/* pid namespace level above the initial one's */
};

/* iter_processes: one for each process with a live thread (a zombie has ended and is left out). */
struct process_record {
	struct process_id self;
	struct process_id parent;	/* by parent now */
	__u64 exec_id;			/* task_struct.self_exec_id: changes with every exec */
	__u32 flags;			/* enum process_flag */
	__u32 ruid, euid, suid;
	__u32 session;
	__u32 tty;
	__u32 netns;			/* 0: not readable */
	__u32 pad;
	char comm[COMM_SIZE];		/* now */
};
_Static_assert(sizeof(struct process_record) == 88, "process_record is part of the layout");

/* iter_connections: ESTABLISHED TCP and MPTCP sockets by holder; and those that wait in a listener's accept queue. */
struct connection_record {
	__u64 inode;			/* of the connection; 0 for one that waits in a queue */
	__u64 listener_inode;		/* the listener in whose queue it waits; 0 otherwise */
	struct process_id holder;	/* of the connection, or of the listener in whose queue it waits */
	__u32 netns;
	__u32 pad;
	__u8 local[16], remote[16];	/* network order; IPv4 in the first 4 bytes */
	__u16 local_port, remote_port;	/* host order */
	__u16 family;
	__u16 protocol;
};
_Static_assert(sizeof(struct connection_record) == 80, "connection_record is part of the layout");

enum tracking_hook { HOOK_TRACEPOINT = 1, HOOK_FEXIT = 2 };

/* `meta`, one entry. */
struct tracking_meta {
	__u64 since_boot_ns;	/* every later fork, exec, exit and listen() was hooked */
	__u64 since_real_s;	/* the same moment, seconds since the epoch by the clock of then */
	__u32 layout;
	__u32 hook;		/* enum tracking_hook */
	char version[16];	/* of the program that loaded it */
};

/* `counters`: one u64 each, added to atomically. */
enum counter {
	COUNTER_BIRTHS_FULL,		/* a process was not entered: the births map was full */
	COUNTER_STORAGE_FAILED,		/* a listen() was not recorded: no memory for socket storage */
	COUNTER_UNRECORDED_PARENT,	/* a fork whose parent has no entry */
	COUNTER_CASCADE_CUT,		/* a chain of ended ancestors was too long to forget in one exit */
	COUNTER_MAX
};

/* `switches`, one entry: run arms it before it sleeps; the first listen() clears it and sends one wake-up. */
struct tracking_switches {
	__u32 armed;
	__u32 pad;
};

/* `stops`: what we stopped, so that a respawn is noticed. Written by user space. */
struct stop_key {
	__u64 rule_hash;	/* FNV-1a of the rule's name */
	__u32 netns;
	__u16 port;
	__u16 family;
	__u8 address[16];
};
struct stop {
	__u64 stopped_boot_ns;
	struct process_id respawner;	/* parent of what was stopped, if it lived */
};

/* `tallies`: what came of what was due, since tracking began. Written by user space. */
struct tally_key {
	char rule[60];		/* its name, cut; not NUL-terminated when full */
	__u32 outcome;		/* enum outcome of user/act */
};
_Static_assert(sizeof(struct tally_key) == 64, "tally_key is part of the layout");

/* `keeps`: `listenreap keep :PORT`, by port in host order. Written by user space. */
struct keep {
	__u64 until_boot_ns;	/* 0: until reboot */
	__u32 uid;		/* who asked */
	__u32 pad;
};

/* `seeds`: only while loading. argv of a process that lived before, read from /proc while its self_exec_id was exec_id. */
struct seed_argv {
	__u64 exec_id;
	__u32 argv_len;
	__u32 is_cut;
	char argv[ARGV_HEAD];
};
