/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * The kernel half as user space sees it: load and unload, and reading what is pinned. The only file that
 * knows the skeleton and <bpf/...>. Reading never loads a program and needs nothing but the pins.
 *
 * All functions return 0 or a negative errno and fill *ret_failure with one line for people; outputs are
 * untouched on failure. pin_dir is where the pins live, without the layout's own directory.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "../../bpf/listenreap.h"
#include "failure.h"

struct tracker;	/* open pins; close with tracker_close */

/*
 * Starts tracking: mounts a bpf filesystem at /sys/fs/bpf when pin_dir lies there and none is mounted, loads,
 * attaches, enters what already lives, pins. Idempotent; two at once: one does it, the other waits and finds it done.
 * A half or corrupt layout directory is repaired (removed and loaded anew) and *ret_repaired says so.
 * An older layout is replaced, make before break.
 * -EPERM / -EOPNOTSUPP / -ENOENT: cannot observe here (contract exit 3), nothing was changed.
 */
int tracker_load(const char *pin_dir, bool *ret_loaded, bool *ret_repaired, struct failure *ret_failure);

/* Stops tracking and removes the pins and pin_dir itself (not a mount point). Fine when nothing is there. */
int tracker_unload(const char *pin_dir, struct failure *ret_failure);

/* -ENOENT: not loaded. -ESTALE: pins of another layout. -EBADMSG: half or corrupt. */
int tracker_open(const char *pin_dir, struct tracker **ret, struct failure *ret_failure);
void tracker_close(struct tracker *tracker);

/* A callback returns 0 to go on; anything else ends the walk and becomes its result. Records are valid during the call. */
int tracker_read_holders(struct tracker *tracker, int (*each)(const struct holder_record *, void *), void *arg,
			 struct failure *ret_failure);
int tracker_read_processes(struct tracker *tracker, int (*each)(const struct process_record *, void *), void *arg,
			   struct failure *ret_failure);
int tracker_read_connections(struct tracker *tracker, int (*each)(const struct connection_record *, void *), void *arg,
			     struct failure *ret_failure);

/* -ENOENT: not recorded. -EAGAIN: kept changing while it was read. */
int tracker_find_birth(struct tracker *tracker, struct process_id id, struct birth *ret);

struct tracking_status {
	uint64_t since_boot_ns, since_real_s;
	enum tracking_hook hook;
	char version[16];
	uint64_t counters[COUNTER_MAX];
	uint64_t recursion_misses;	/* of all our programs: records the kernel skipped */
};
int tracker_read_status(struct tracker *tracker, struct tracking_status *ret, struct failure *ret_failure);

/* Stops: -ENOENT when none. Keeps likewise. */
int tracker_find_stop(struct tracker *tracker, const struct stop_key *key, struct stop *ret);
int tracker_put_stop(struct tracker *tracker, const struct stop_key *key, const struct stop *stop);
/* One more of this outcome. Not atomic over processes: sweeps at the same instant may count one for two. */
int tracker_add_tally(struct tracker *tracker, const struct tally_key *key);
int tracker_read_tallies(struct tracker *tracker, int (*each)(const struct tally_key *, uint64_t, void *), void *arg);
int tracker_find_keep(struct tracker *tracker, uint16_t port, struct keep *ret);
int tracker_put_keep(struct tracker *tracker, uint16_t port, const struct keep *keep);
int tracker_remove_keep(struct tracker *tracker, uint16_t port);
int tracker_next_keep(struct tracker *tracker, const uint16_t *after, uint16_t *ret);	/* -ENOENT: no more */

/* Wake-ups for the run loop. Arm returns the fd to poll; drain empties it. One user at a time. */
int tracker_arm(struct tracker *tracker, int *ret_fd, struct failure *ret_failure);
int tracker_drain(struct tracker *tracker);

/*
 * One `run` a pin directory: an flock on the layout directory, which dies with the process. -EWOULDBLOCK: held; *ret_inode is what
 * /proc/locks names it by.
 */
int tracker_lock_run(struct tracker *tracker, ino_t *ret_inode);

/* doctor: tries each thing on its own, changes nothing. One call of each for every line. pin_dir: where pins would go. */
struct tracker_probe {
	const char *name;	/* "typed tracepoints", "fexit trampolines", ... */
	bool is_required;
	bool is_ok;
	char remedy[256];	/* what to do, empty when ok */
};
int tracker_probe(const char *pin_dir, void (*each)(const struct tracker_probe *, void *), void *arg);
