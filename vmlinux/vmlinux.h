/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * Written by hand: the kernel fields that we read and nothing else, so this file is the list of what we depend on. Offsets are
 * relocated at load (CO-RE); order and neighbours do not matter. struct X___v is another kernel version's X.
 */
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef signed short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1, BPF_EXIST = 2 };
enum { BPF_F_NO_PREALLOC = 1 };
enum { BPF_SK_STORAGE_GET_F_CREATE = 1 };

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

typedef struct {
	int counter;
} atomic_t;
typedef struct {
	__u32 val;
} kuid_t;
typedef struct {
	__u32 val;
} kgid_t;

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];		/* [0]: the initial namespace's */
};

struct tty_driver {
	int major, minor_start;
};

struct tty_struct {
	int index;
	struct tty_driver *driver;
};

struct signal_struct {
	atomic_t live;
	unsigned int flags;
	int group_exit_code;
	struct pid *pids[4];		/* enum pid_type */
	struct tty_struct *tty;
};

struct cred {
	kuid_t uid, suid, euid;
};

struct qstr {
	union {
		struct {
			__u32 hash, len;
		};
	};
};

struct dentry {
	struct qstr d_name;
	unsigned char d_iname[40];
};

union shortname_store {			/* since 6.14 */
	unsigned char string[40];
};

struct dentry___shortname {
	union shortname_store d_shortname;
};

struct path {
	struct dentry *dentry;
};

struct inode {
	unsigned short i_mode;
	kuid_t i_uid;
	kgid_t i_gid;
	unsigned long i_ino;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
};

struct linux_binprm {
	struct file *file;
};

struct mm_struct {
	unsigned long arg_start, arg_end;
	struct file *exe_file;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

struct nsproxy {
	struct net *net_ns;
};

struct task_struct {
	unsigned int flags;
	int pid, tgid;
	int exit_code;
	__u64 start_boottime;
	__u64 self_exec_id;
	struct task_struct *real_parent, *group_leader;
	struct pid *thread_pid;
	const struct cred *cred;
	char comm[16];
	struct mm_struct *mm;
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	int exit_state;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	union {
		__u8 u6_addr8[16];
		__be32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	union {
		struct {
			__be32 skc_daddr, skc_rcv_saddr;
		};
	};
	union {
		struct {
			__be16 skc_dport;
			__u16 skc_num;
		};
	};
	unsigned short skc_family;
	volatile unsigned char skc_state;
	unsigned char skc_reuseport : 1;
	unsigned char skc_ipv6only : 1;
	int skc_bound_dev_if;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	struct socket *sk_socket;
	__u16 sk_protocol;
};

struct socket {
	struct file *file;
	struct sock *sk;
};

struct request_sock {
	struct request_sock *dl_next;
	struct sock *sk;
};

struct request_sock_queue {
	struct request_sock *rskq_accept_head;
};

struct inet_sock {
	struct sock sk;
	__be16 inet_sport;
};

struct inet_connection_sock {
	struct request_sock_queue icsk_accept_queue;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif
