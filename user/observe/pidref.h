/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * A process held so that it cannot be mistaken for another: the only pidfd code, and the only way a signal leaves
 * listenreap (pidfd_send_signal(2)). Order that makes it race-free: pidfd_open first, then the start time is compared; what
 * is still the recorded (tgid, start) after the pidfd exists is what the pidfd names.
 */
#include <stdbool.h>
#include "../../bpf/listenreap.h"

struct pidref {
	int fd;			/* pidfd, O_CLOEXEC; -1 none; readable by poll when the process has ended */
	struct process_id id;
};
#define PIDREF_NULL ((struct pidref){ .fd = -1 })

/* -ESRCH: gone, or the pid is another process now. -ENOSYS: no pidfds here. */
int pidref_pin(int proc_fd, struct process_id id, struct pidref *ret);
/* -ESRCH: ended and reaped. 0 does not mean that it died: only pidref_has_ended() does. */
int pidref_signal(const struct pidref *ref, int signal);
/* A zombie has ended. */
bool pidref_has_ended(const struct pidref *ref);
/* Safe on PIDREF_NULL; leaves it so. */
void pidref_close(struct pidref *ref);
