/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * Acts on verdicts of `reap`: pins every process of the tree, verifies, observes and judges again, signals eldest first, CONT if
 * stopped, waits for the rule's grace as state with a deadline (never a sleep), KILLs what is left, re-lists so that late children
 * do not escape, and calls it success only when the processes are gone and the socket has left LISTEN.
 * Nothing blocks: poll reaper_fd(), call reaper_step() when it is readable or the deadline has come. Never logs itself: each
 * finished act is handed to `done`.
 */
#include "../observe/observation.h"

enum outcome { OUTCOME_REAPED, OUTCOME_WOULD_REAP, OUTCOME_SURVIVED, OUTCOME_GONE, OUTCOME_REFUSED, OUTCOME_MAX };
extern const char *const outcome_names[OUTCOME_MAX];	/* as in contract.md */

/* One holder of one listener that was due; the facts are copies that outlive the observation. */
struct act {
	struct process_id pid;
	uint32_t uid;
	char comm[COMM_SIZE];
	char rule[64];
	struct address address;
	uint16_t port;
	enum scope scope;
	uint64_t inode;
	uint32_t netns;
	uint64_t age_ns, orphaned_ns;	/* when judged; orphaned 0 when the rule does not ask */
	struct process_id anchor;	/* tgid 0 none */
	char anchor_comm[COMM_SIZE];
	char argv[256];			/* cut to what the rule matched: secrets in argv are the user's */
	enum outcome outcome;
	char why[160];			/* refused, survived: why */
	uint64_t signals;		/* 1 << signal number, of those sent to this process */
	int signal_order[4];		/* signal numbers in the order sent, 0 ends */
	int tree_size;			/* processes signalled with it */
	uint64_t took_ns;
};

struct reaper;
struct reaper_options {
	struct tracker *tracker;
	int proc_fd;
	const struct ruleset *ruleset;	/* must stay until the reaper is closed or given another */
	bool is_dry_run;		/* judge and report would-reap, signal nobody (also: mode = observe) */
	void (*done)(const struct act *, void *);
	void *arg;
};
int reaper_open(const struct reaper_options *options, struct reaper **ret);
void reaper_close(struct reaper *reaper);	/* kills nobody further */

/* Takes one due listener of this observation with its tree; signals at once when all checks hold. Listeners that share processes with
   one under way join it. */
int reaper_reap(struct reaper *reaper, struct observation *observation, int listener, const struct verdict *verdict, const int *tree,
		int tree_count);

/* Observes once more, judges each again, and signals those that are still due: the end of a burst of reaper_reap(). */
int reaper_commit(struct reaper *reaper);

/* Between reapings only (reaper_is_idle). */
void reaper_set_ruleset(struct reaper *reaper, const struct ruleset *ruleset);

int reaper_fd(const struct reaper *reaper);			/* epoll: readable when a signalled process has ended */
uint64_t reaper_deadline_ns(const struct reaper *reaper);	/* CLOCK_BOOTTIME; UINT64_MAX: nothing waits */
int reaper_step(struct reaper *reaper, uint64_t now_boot_ns);
bool reaper_is_idle(const struct reaper *reaper);
/* Is this listener (inode) being acted on, so that a sweep must leave it? */
bool reaper_is_at(const struct reaper *reaper, uint64_t inode);
