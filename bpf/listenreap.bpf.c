/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records births, listeners and ends; judges nothing. Direct, relocated loads only: no probe read of kernel memory, so that all of it
 * loads under lockdown=confidentiality. No per-CPU scratch: typed tracepoints are preemptible since 7.x.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "listenreap.h"

char LICENSE[] SEC("license") = "GPL";

#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6
#define IPPROTO_MPTCP 262
#define TCP_ESTABLISHED 1
#define TCP_LISTEN 10
#define PF_KTHREAD 0x00200000		/* include/linux/sched.h */
#define SIGNAL_STOP_STOPPED 0x00000001	/* include/linux/sched/signal.h */
#define SIGNAL_UNKILLABLE 0x00000040
#define PIDTYPE_SID 3			/* include/linux/pid_types.h */

/* More than any host's processes and remembered ancestors; constant, so that an upgrade can reuse the map. */
#define BIRTHS_MAX 262144
/* Ended ancestors that one exit forgets; what is left over is counted and forgotten by the next load. */
#define CASCADE_MAX 512
/* Connections shown of one accept queue; the verifier walks each, and 256 of them were most of the time that load takes. */
#define QUEUE_MAX 32

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct listen_record);
} listeners SEC(".maps");

/* `listeners` of the layout that is replaced, where there is one: set by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct listen_record);
} old_listeners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, BIRTHS_MAX);
	__type(key, struct process_id);
	__type(value, struct birth);
} births SEC(".maps");

/* What a birth without a recorded parent starts as: zeros, but for its refs (a birth is too large for the stack). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct birth);
} blank SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tracking_meta);
} meta SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COUNTER_MAX);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tracking_switches);
} switches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} wakeups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, struct stop_key);
	__type(value, struct stop);
} stops SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, struct tally_key);
	__type(value, __u64);
} tallies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u16);
	__type(value, struct keep);
} keeps SEC(".maps");

static void count(__u32 counter)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		__sync_fetch_and_add(value, 1);
}

static struct process_id identify(struct task_struct *task)
{
	struct process_id id = { .start_boot_ns = task->group_leader->start_boottime, .tgid = task->tgid };

	return id;
}

static bool is_same(const struct process_id *a, const struct process_id *b)
{
	return a->tgid == b->tgid && a->start_boot_ns == b->start_boot_ns;
}

/*
 * False: there is one already, or no room. Compared with 0, not for a sign: until 6.4 map operations returned int, and as the verifier has
 * them called directly, -EEXIST arrives as 4294967279.
 */
static bool insert_birth(const struct process_id *id, const struct birth *birth)
{
	return bpf_map_update_elem(&births, id, birth, BPF_NOEXIST) == 0;
}

/* A living process of which nothing is recorded. Its end may come at once: it counts as alive from the first moment. */
static bool insert_blank(const struct process_id *id)
{
	__u32 zero = 0;
	struct birth *birth = bpf_map_lookup_elem(&blank, &zero);

	if (birth)
		birth->refs = 1;	/* whoever writes it, writes the same */
	return birth && insert_birth(id, birth);
}

/* As /proc/PID/stat numbers it: new_encode_dev(MKDEV(major, minor_start) + index). */
static __u32 terminal_of(struct signal_struct *signal)
{
	struct tty_struct *tty = signal->tty;
	__u32 major, minor;

	if (!tty)
		return 0;
	major = tty->driver->major;
	minor = tty->driver->minor_start + tty->index;
	return (minor & 0xff) | (major << 8) | ((minor & ~0xffu) << 12);
}

static __u32 session_of(struct signal_struct *signal)
{
	struct pid *session = signal->pids[PIDTYPE_SID];

	return session ? session->numbers[0].nr : 0;
}

/* Two words: a comm is written as one, and a byte at a time would be sixteen loads. */
static void copy_comm(char *to, const char *from)
{
	((__u64 *)to)[0] = ((const __u64 *)from)[0];
	((__u64 *)to)[1] = ((const __u64 *)from)[1];
	to[COMM_SIZE - 1] = 0;
}

/* d_iname holds 32 bytes or more on every 64-bit kernel; names that fit are stored there (fs/dcache.c, d_alloc). */
#define INLINE_NAME 32

/*
 * Basename of an executable without a read through a char pointer: the kernel keeps short names inside the dentry. Returns the flags
 * that say what is known. Bytes behind the NUL are of no meaning.
 */
static __u32 note_executable(struct birth *birth, struct file *file)
{
	struct dentry *dentry = file->f_path.dentry;
	struct inode *inode = file->f_inode;
	__u32 length = dentry->d_name.len, flags = 0;
	const unsigned char *name;

	if (inode->i_uid.val == 0 && !(inode->i_mode & 0002) && (!(inode->i_mode & 0020) || inode->i_gid.val == 0))
		flags |= BIRTH_EXE_ROOT_ONLY;
	birth->exe[0] = 0;
	if (length == 0 || length >= INLINE_NAME)
		return flags | BIRTH_EXE_CUT;
	if (bpf_core_field_exists(struct dentry___shortname, d_shortname))
		name = ((struct dentry___shortname *)dentry)->d_shortname.string;
	else
		name = dentry->d_iname;
	for (int i = 0; i < INLINE_NAME / 8; i++)
		((__u64 *)birth->exe)[i] = ((const __u64 *)name)[i];
	birth->exe[INLINE_NAME - 1] = 0;
	return flags;
}

/* The entry's own terminal and session are its forker's until it changes them; what was seen once is not forgotten. */
static void note_terminal(struct birth *birth, struct signal_struct *signal)
{
	__u32 tty = terminal_of(signal), session = session_of(signal);

	if (tty)
		birth->tty = tty;
	if (session)
		birth->session = session;
}

/*
 * The forker is the birth parent, also with CLONE_PARENT, which makes real_parent the forker's own parent: that may be whoever adopted
 * the forker, and says nothing of who gave birth.
 */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(record_birth, struct task_struct *forker, struct task_struct *child)
{
	struct process_id id, parent_id;
	struct birth *parent, *birth;
	bool is_new;
	__u32 tty;

	if (child->pid != child->tgid || child->flags & PF_KTHREAD)
		return 0;
	id = identify(child);
	parent_id = identify(forker);
	tty = terminal_of(forker->signal);

	parent = bpf_map_lookup_elem(&births, &parent_id);
	if (parent) {
		note_terminal(parent, forker->signal);
		/* Before the child's entry exists: an entry that counts on its parent must never outlive it. */
		__sync_fetch_and_add(&parent->refs, 1);
	} else {
		count(COUNTER_UNRECORDED_PARENT);
	}
	/* The parent's entry is the child's first: it has the same argv, comm and executable until it calls exec. */
	is_new = parent ? insert_birth(&id, parent) : insert_blank(&id);
	if (!is_new) {
		if (!bpf_map_lookup_elem(&births, &id))
			count(COUNTER_BIRTHS_FULL);
		if (parent)
			__sync_fetch_and_add(&parent->refs, -1);
		return 0;
	}
	birth = bpf_map_lookup_elem(&births, &id);
	if (!birth)
		return 0;
	birth->parent = parent_id;
	birth->end_boot_ns = 0;
	birth->refs = 1;
	birth->uid = child->cred->euid.val;
	birth->session = session_of(forker->signal);
	birth->tty = tty;
	birth->parent_tty = tty;
	birth->exit_code = 0;
	birth->exec_seq = 0;
	if (parent) {
		birth->flags = (birth->flags & ~(BIRTH_EXECED | BIRTH_ENDED)) | BIRTH_WITNESSED | BIRTH_LINKED;
	} else {
		birth->flags = BIRTH_WITNESSED | BIRTH_ARGV_MISSED | BIRTH_EXE_CUT;
		copy_comm(birth->comm, child->comm);
	}
	barrier();
	birth->self = id;	/* last: whole from here on */
	return 0;
}

/* Returns the flags that say what is known. */
static __u32 note_arguments(struct birth *birth, struct mm_struct *mm)
{
	__u64 start = mm->arg_start, length = mm->arg_end - start;
	__u32 flags = 0;

	if (length > ARGV_HEAD) {
		flags = BIRTH_ARGV_CUT;
		length = ARGV_HEAD;
	}
	barrier_var(length);
	if (length > ARGV_HEAD)
		length = ARGV_HEAD;
	birth->argv_len = length;
	if (bpf_probe_read_user(birth->argv, length, (const void *)start) < 0) {
		birth->argv_len = 0;
		flags |= BIRTH_ARGV_MISSED;
	}
	return flags;
}

/* The section is ours, so that the loader can put back the helper that libbpf takes for unsupported (tracker.c). */
SEC("tp_btf_user/sched_process_exec")
int BPF_PROG(record_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct process_id id = identify(task);
	struct birth *birth = bpf_map_lookup_elem(&births, &id);
	__u32 flags;

	if (!birth) {
		/* Its fork was not seen: entered as at load, with its parent of now and not witnessed. If load was faster, it wrote the same. */
		insert_blank(&id);
		birth = bpf_map_lookup_elem(&births, &id);
		if (!birth) {
			count(COUNTER_BIRTHS_FULL);
			return 0;
		}
		birth->parent = identify(task->real_parent);
		birth->self = id;
	}
	birth->exec_seq |= 1;
	barrier();
	/* Atomically, here and wherever others may write them too: load may link the entry meanwhile. */
	__sync_fetch_and_and(&birth->flags, ~(BIRTH_ARGV_CUT | BIRTH_ARGV_MISSED | BIRTH_EXE_CUT | BIRTH_EXE_ROOT_ONLY));
	birth->exec_boot_ns = bpf_ktime_get_boot_ns();
	birth->uid = task->cred->euid.val;
	note_terminal(birth, task->signal);
	copy_comm(birth->comm, task->comm);
	flags = BIRTH_EXECED | note_executable(birth, bprm->file);
	flags |= note_arguments(birth, task->mm);
	__sync_fetch_and_or(&birth->flags, flags);
	barrier();
	birth->exec_seq++;
	return 0;
}

/* Drops one reference of an entry; at the last it is forgotten, and then drops its own reference to its parent. */
static void drop_reference(struct process_id id)
{
	for (int i = 0; i < CASCADE_MAX; i++) {
		struct birth *birth = bpf_map_lookup_elem(&births, &id);
		struct process_id parent;
		__u32 flags;

		if (!birth || __sync_fetch_and_add(&birth->refs, -1) != 1)
			return;
		parent = birth->parent;
		flags = birth->flags;
		bpf_map_delete_elem(&births, &id);
		if (!(flags & BIRTH_LINKED))
			return;
		id = parent;
	}
	count(COUNTER_CASCADE_CUT);
}

/*
 * Fires for each thread, and has a second argument since 6.16: only the first is read. The thread group has ended when no thread is left,
 * whichever came last; two last ones may both see that.
 */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(record_end, struct task_struct *task)
{
	struct process_id id;
	struct birth *birth;

	if (task->signal->live.counter != 0)
		return 0;
	id = identify(task);
	birth = bpf_map_lookup_elem(&births, &id);
	if (!birth || __sync_fetch_and_or(&birth->flags, BIRTH_ENDED) & BIRTH_ENDED)
		return 0;
	/*
	 * The other of two last ones may have forgotten the entry since we found it, and its memory is a newborn's at once (htab reuses
	 * elements since 6.1, without waiting for RCU). That one lives: who is said to have ended makes orphans.
	 */
	if (!is_same(&birth->self, &id)) {
		__sync_fetch_and_and(&birth->flags, ~BIRTH_ENDED);
		return 0;
	}
	note_terminal(birth, task->signal);
	birth->exit_code = task->signal->group_exit_code ? task->signal->group_exit_code : task->exit_code;
	birth->end_boot_ns = bpf_ktime_get_boot_ns();
	drop_reference(id);
	return 0;
}

static bool is_tcp(struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	return (family == AF_INET || family == AF_INET6) && (sk->sk_protocol == IPPROTO_TCP || sk->sk_protocol == IPPROTO_MPTCP);
}

static void fill_record(struct listen_record *record)
{
	struct task_struct *task = bpf_get_current_task_btf();

	record->opened_boot_ns = bpf_ktime_get_boot_ns();
	record->opener = identify(task);
	record->opener_uid = task->cred->euid.val;
	record->flags = LISTEN_WITNESSED;
	copy_comm(record->opener_comm, task->comm);
}

/* Every transition into LISTEN starts a new record: one that failed, or a shutdown in between, must not lend its age. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(record_listen, struct sock *sk, int old_state, int new_state)
{
	struct tracking_switches *armed;
	struct listen_record *record;
	__u32 zero = 0, *wakeup;

	if (new_state != TCP_LISTEN || old_state == TCP_LISTEN)
		return 0;
	if (!is_tcp(sk))
		return 0;
	record = bpf_sk_storage_get(&listeners, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!record) {
		count(COUNTER_STORAGE_FAILED);
		return 0;
	}
	fill_record(record);

	armed = bpf_map_lookup_elem(&switches, &zero);
	if (!armed || !armed->armed || !__sync_lock_test_and_set(&armed->armed, 0))
		return 0;
	wakeup = bpf_ringbuf_reserve(&wakeups, sizeof(*wakeup), 0);
	if (wakeup) {
		*wakeup = 0;
		bpf_ringbuf_submit(wakeup, 0);
	}
	return 0;
}

/* Optional: where trampolines are refused, or for MPTCP since 6.12, nobody confirms, and the live state decides anyway. */
SEC("?fexit/inet_listen")
int BPF_PROG(confirm_listen, struct socket *socket, int backlog, int ret)
{
	struct sock *sk = socket->sk;
	struct listen_record *record;

	if (ret != 0 || !sk)
		return 0;
	record = bpf_sk_storage_get(&listeners, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!record)
		return 0;
	/* A second chance: a typed tracepoint is skipped where it was preempted on the same CPU by itself (since 7.x). */
	if (!record->opened_boot_ns)
		fill_record(record);
	record->flags |= LISTEN_CONFIRMED;
	return 0;
}

/* What is read of a listener or connection, live. */
static struct sock *socket_of(struct file *file)
{
	struct socket *socket = bpf_sock_from_file(file);
	struct sock *sk = socket ? socket->sk : NULL;

	return sk && is_tcp(sk) ? sk : NULL;
}

static void copy_local(__u8 *to, struct sock *sk)
{
	__u32 *words = (__u32 *)to;

	if (sk->__sk_common.skc_family == AF_INET) {
		words[0] = sk->__sk_common.skc_rcv_saddr;
		words[1] = words[2] = words[3] = 0;
		return;
	}
	words[0] = sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[0];
	words[1] = sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[1];
	words[2] = sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[2];
	words[3] = sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[3];
}

static void copy_remote(__u8 *to, struct sock *sk)
{
	__u32 *words = (__u32 *)to;

	if (sk->__sk_common.skc_family == AF_INET) {
		words[0] = sk->__sk_common.skc_daddr;
		words[1] = words[2] = words[3] = 0;
		return;
	}
	words[0] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[0];
	words[1] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[1];
	words[2] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[2];
	words[3] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[3];
}

SEC("iter/task_file")
int iter_holders(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct holder_record out = { 0 };
	struct file *file = ctx->file;
	struct listen_record *record;
	struct sock *sk;

	if (!task || !file)
		return 0;
	sk = socket_of(file);
	if (!sk || sk->__sk_common.skc_state != TCP_LISTEN)
		return 0;
	out.inode = file->f_inode->i_ino;
	out.cookie = bpf_get_socket_cookie(sk);
	out.holder = identify(task);
	/* What was missed is known from its first sight on, as at load: a listener without an age would never become due. */
	record = bpf_sk_storage_get(&listeners, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (record) {
		if (!record->opened_boot_ns)
			record->opened_boot_ns = bpf_ktime_get_boot_ns();
		out.listen = *record;
		out.flags |= HOLDER_HAS_RECORD;
	}
	out.netns = sk->__sk_common.skc_net.net->ns.inum;
	out.bound_dev = sk->__sk_common.skc_bound_dev_if;
	out.uid = task->cred->euid.val;
	if (BPF_CORE_READ_BITFIELD(&sk->__sk_common, skc_ipv6only))
		out.flags |= HOLDER_V6ONLY;
	if (BPF_CORE_READ_BITFIELD(&sk->__sk_common, skc_reuseport))
		out.flags |= HOLDER_REUSEPORT;
	if (task->signal->flags & SIGNAL_UNKILLABLE)
		out.flags |= HOLDER_NS_INIT;
	if (task->group_leader->thread_pid && task->group_leader->thread_pid->level > 0)
		out.flags |= HOLDER_FOREIGN_PIDNS;
	copy_local(out.address, sk);
	out.port = sk->__sk_common.skc_num;
	out.family = sk->__sk_common.skc_family;
	out.protocol = sk->sk_protocol;
	copy_comm(out.comm, task->group_leader->comm);
	bpf_seq_write(ctx->meta->seq, &out, sizeof(out));
	return 0;
}

/* Threads share what is shown: one record a process, from its leader, which stays until the last thread is gone. */
SEC("iter/task")
int iter_processes(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct process_record out = { 0 };
	struct signal_struct *signal;
	struct task_struct *parent;

	if (!task || task->pid != task->tgid)
		return 0;
	signal = task->signal;
	if (signal->live.counter == 0)
		return 0;
	parent = task->real_parent;
	out.self = identify(task);
	out.parent = identify(parent);
	out.exec_id = task->self_exec_id;
	if (task->flags & PF_KTHREAD)
		out.flags |= PROCESS_KTHREAD;
	if (signal->flags & SIGNAL_UNKILLABLE)
		out.flags |= PROCESS_NS_INIT;
	if (signal->flags & SIGNAL_STOP_STOPPED)
		out.flags |= PROCESS_STOPPED;
	if (task->exit_state)
		out.flags |= PROCESS_LEADER_EXITED;
	if (task->thread_pid && task->thread_pid->level > 0)
		out.flags |= PROCESS_FOREIGN_PIDNS;
	out.ruid = task->cred->uid.val;
	out.euid = task->cred->euid.val;
	out.suid = task->cred->suid.val;
	out.session = session_of(signal);
	out.tty = terminal_of(signal);
	if (task->nsproxy)
		out.netns = task->nsproxy->net_ns->ns.inum;
	copy_comm(out.comm, task->comm);
	bpf_seq_write(ctx->meta->seq, &out, sizeof(out));
	return 0;
}

static void write_connection(struct seq_file *seq, struct connection_record *out, struct sock *sk)
{
	out->netns = sk->__sk_common.skc_net.net->ns.inum;
	copy_local(out->local, sk);
	copy_remote(out->remote, sk);
	out->local_port = sk->__sk_common.skc_num;
	out->remote_port = bpf_ntohs(sk->__sk_common.skc_dport);
	out->family = sk->__sk_common.skc_family;
	out->protocol = sk->sk_protocol;
	bpf_seq_write(seq, out, sizeof(*out));
}

/*
 * Accepted connections wait in the listener's own queue. An MPTCP listener's is its first subflow's, which no helper reaches from a tracing
 * program (a cast is a kfunc since 6.2, and resolving that needs CAP_SYS_ADMIN before): user space finds those in /proc/PID/net/tcp.
 */
static void write_queue(struct seq_file *seq, struct connection_record *out, struct sock *sk)
{
	struct tcp_sock *tcp = sk->sk_protocol == IPPROTO_TCP ? bpf_skc_to_tcp_sock(sk) : NULL;
	struct request_sock *request;

	if (!tcp)
		return;
	request = tcp->inet_conn.icsk_accept_queue.rskq_accept_head;
	for (int i = 0; i < QUEUE_MAX && request; i++) {
		struct sock *waiting = request->sk;

		if (waiting && waiting->__sk_common.skc_state == TCP_ESTABLISHED)
			write_connection(seq, out, waiting);
		request = request->dl_next;
	}
	/* More than are shown: the rest is one whose other end nobody holds, and counts. */
	if (request) {
		out->netns = sk->__sk_common.skc_net.net->ns.inum;
		copy_local(out->local, sk);
		out->local_port = out->remote_port = sk->__sk_common.skc_num;
		out->family = sk->__sk_common.skc_family;
		out->protocol = sk->sk_protocol;
		for (int i = 0; i < 16; i++)
			out->remote[i] = 0;
		bpf_seq_write(seq, out, sizeof(*out));
	}
}

SEC("iter/task_file")
int iter_connections(struct bpf_iter__task_file *ctx)
{
	struct connection_record out = { 0 };
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct sock *sk;
	__u8 state;

	if (!task || !file)
		return 0;
	sk = socket_of(file);
	if (!sk)
		return 0;
	state = sk->__sk_common.skc_state;
	if (state != TCP_ESTABLISHED && state != TCP_LISTEN)
		return 0;
	out.holder = identify(task);
	if (state == TCP_ESTABLISHED) {
		out.inode = file->f_inode->i_ino;
		write_connection(ctx->meta->seq, &out, sk);
	} else {
		out.listener_inode = file->f_inode->i_ino;
		write_queue(ctx->meta->seq, &out, sk);
	}
	return 0;
}

/*
 * Run once each at load, after the hooks are attached; they never overwrite what a hook wrote. What lives already is entered as not
 * witnessed. Its argv cannot be read from here: the loader hands it over, one process at a time, in `seed_argv`.
 */
SEC("iter/task")
int seed_births(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 flags = BIRTH_EXECED | BIRTH_ARGV_MISSED;
	struct process_id id;
	struct birth *birth;

	if (!task || task->pid != task->tgid || task->flags & PF_KTHREAD || task->signal->live.counter == 0)
		return 0;
	id = identify(task);
	if (!insert_blank(&id))
		return 0;
	birth = bpf_map_lookup_elem(&births, &id);
	if (!birth)
		return 0;
	birth->parent = identify(task->real_parent);
	birth->uid = task->cred->euid.val;
	note_terminal(birth, task->signal);
	copy_comm(birth->comm, task->comm);
	if (task->mm && task->mm->exe_file)
		flags |= note_executable(birth, task->mm->exe_file);
	else
		flags |= BIRTH_EXE_CUT;
	__sync_fetch_and_or(&birth->flags, flags);
	barrier();
	birth->self = id;
	return 0;
}

/* Counts each entry in its parent's references, once both are there. A parent that ends in between is simply not linked. */
SEC("iter/task")
int seed_links(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct birth *birth, *parent;
	struct process_id id;

	if (!task || task->pid != task->tgid || task->flags & PF_KTHREAD)
		return 0;
	id = identify(task);
	birth = bpf_map_lookup_elem(&births, &id);
	if (!birth || birth->flags & (BIRTH_LINKED | BIRTH_ENDED))
		return 0;
	id = birth->parent;
	parent = bpf_map_lookup_elem(&births, &id);
	if (!parent || parent->flags & BIRTH_ENDED)
		return 0;
	/* Should the child end between these two, one reference too many stays: an entry is kept too long, never too short. */
	__sync_fetch_and_add(&parent->refs, 1);
	__sync_fetch_and_or(&birth->flags, BIRTH_LINKED);
	return 0;
}

SEC("iter/task_file")
int seed_listeners(struct bpf_iter__task_file *ctx)
{
	struct listen_record *record, *old;
	struct file *file = ctx->file;
	struct sock *sk;

	if (!file)
		return 0;
	sk = socket_of(file);
	if (!sk || sk->__sk_common.skc_state != TCP_LISTEN || bpf_sk_storage_get(&listeners, sk, NULL, 0))
		return 0;
	record = bpf_sk_storage_get(&listeners, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!record) {
		count(COUNTER_STORAGE_FAILED);
		return 0;
	}
	if (record->opened_boot_ns)
		return 0;	/* the hook was faster */
	old = bpf_sk_storage_get(&old_listeners, sk, NULL, 0);
	if (old)
		*record = *old;
	else
		record->opened_boot_ns = bpf_ktime_get_boot_ns();
	return 0;
}

/* argv of processes that lived before: written by the loader from /proc, taken over where no exec came since. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, BIRTHS_MAX);
	__type(key, struct process_id);
	__type(value, struct seed_argv);
} seeds SEC(".maps");

SEC("iter/task")
int seed_arguments(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct seed_argv *seed;
	struct process_id id;
	struct birth *birth;

	if (!task || task->pid != task->tgid)
		return 0;
	id = identify(task);
	seed = bpf_map_lookup_elem(&seeds, &id);
	birth = bpf_map_lookup_elem(&births, &id);
	if (!seed || !birth || !(birth->flags & BIRTH_ARGV_MISSED) || birth->exec_boot_ns || seed->exec_id != task->self_exec_id)
		return 0;
	for (int i = 0; i < ARGV_HEAD / 8; i++)
		((__u64 *)birth->argv)[i] = ((__u64 *)seed->argv)[i];
	birth->argv_len = seed->argv_len;
	if (seed->is_cut)
		__sync_fetch_and_or(&birth->flags, BIRTH_ARGV_CUT);
	__sync_fetch_and_and(&birth->flags, ~BIRTH_ARGV_MISSED);
	/* An exec in between: what is there now may be some of both. It is read from /proc while it lives. */
	if (birth->exec_boot_ns)
		__sync_fetch_and_or(&birth->flags, BIRTH_ARGV_MISSED);
	return 0;
}
