/* SPDX-License-Identifier: GPL-2.0-only */
/* Only while somebody watches: says that some socket began or ceased to listen. What and who is read live. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "watch.h"

char LICENSE[] SEC("license") = "GPL";

#define IPPROTO_TCP 6
#define IPPROTO_MPTCP 262
#define TCP_CLOSE 7
#define TCP_LISTEN 10

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} changes SEC(".maps");

/* Changes that found the ring full: the reader was too slow. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} missed SEC(".maps");

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(report_change, struct sock *sk, int old_state, int new_state)
{
	struct watch_change *change;
	__u32 zero = 0;
	__u64 *count;

	if (!(new_state == TCP_LISTEN && old_state != TCP_LISTEN) && !(old_state == TCP_LISTEN && new_state == TCP_CLOSE))
		return 0;
	if (sk->sk_protocol != IPPROTO_TCP && sk->sk_protocol != IPPROTO_MPTCP)
		return 0;
	change = bpf_ringbuf_reserve(&changes, sizeof(*change), 0);
	if (!change) {
		count = bpf_map_lookup_elem(&missed, &zero);
		if (count)
			__sync_fetch_and_add(count, 1);
		return 0;
	}
	change->boot_ns = bpf_ktime_get_boot_ns();
	change->is_listening = new_state == TCP_LISTEN;
	change->pad = 0;
	bpf_ringbuf_submit(change, 0);
	return 0;
}
