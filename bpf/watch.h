/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/* The record of bpf/watch.bpf.c. Never pinned, so that it has no layout: both halves are always of one build. */
#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

struct watch_change {
	__u64 boot_ns;		/* CLOCK_BOOTTIME */
	__u32 is_listening;
	__u32 pad;
};
_Static_assert(sizeof(struct watch_change) == 16, "watch_change has no holes");
