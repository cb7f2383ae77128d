/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * One look at the host: the live snapshot from the pinned iterators, the births of its processes and ancestors, and, only when
 * the judge asks, the process table, /proc, connections. Owns the struct world and all it points to.
 * Reading is never retried silently: what could not be read is FACT_UNREADABLE, or the whole observation fails.
 */
#include "../judge/policy.h"
#include "failure.h"
#include "tracker.h"

struct observation;

/* Reads the listeners with their holders; openers, holders and all their recorded birth ancestors become processes. */
int observation_take(struct tracker *tracker, int proc_fd, struct observation **ret, struct failure *ret_failure);
void observation_free(struct observation *observation);
struct world *observation_world(struct observation *observation);
uint64_t observation_boot_ns(const struct observation *observation);	/* CLOCK_BOOTTIME just after the snapshot */

/* Fulfils one need; sets the fact's state to KNOWN or UNREADABLE, so that it is never asked for twice. -ENOMEM only. */
int observation_gather(struct observation *observation, const struct ruleset *ruleset, const struct need *need);

/* Details of a process that will be shown whatever the verdict (status): NEED_DETAILS for a live one. */
int observation_describe(struct observation *observation, int process);

/* Enters a process by its identity, with its recorded birth ancestors. */
int observation_add(struct observation *observation, struct process_id id, int *ret);

/* Index of the listener, or NONE. */
int observation_find_listener(const struct observation *observation, uint64_t inode, uint32_t netns);

/* Index of the process, or NONE. */
int observation_find(const struct observation *observation, struct process_id id);

/* policy_judge() until it needs nothing more. tree (may be NULL with ret_tree_count NULL) is malloc'ed for the caller to free. */
int observation_judge(struct observation *observation, const struct ruleset *ruleset, uint64_t now_boot_ns, int listener,
		      struct verdict *ret, enum step *ret_step, int **ret_tree, int *ret_tree_count);

/* What a stop of this rule at this address is remembered by. */
void observation_stop_key(const struct listener *listener, const char *rule, struct stop_key *ret);

uint64_t clock_boot_ns(void);
