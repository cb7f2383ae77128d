/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/* What an observation is made of. Private to observation.c (the snapshot) and gather.c (what the judge asks for). */
#include "arena.h"
#include "observation.h"

/* Open addressing hash of indices; slots hold index + 1, 0 is free. */
struct index {
	int *slots;
	uint32_t size;		/* power of two */
};

#define OWN_MAX 64	/* ancestors of ours that are told apart; deeper ones are people's shells anyway */

struct observation {
	struct world world;
	struct tracker *tracker;	/* borrowed */
	int proc_fd;			/* borrowed */
	uint64_t boot_ns;
	struct arena arena;		/* texts of records */
	struct index process_index, listener_index;
	int process_room, listener_room, holder_room, connection_room, time_wait_room;
	int *trees, tree_room;
	struct {
		pid_t pid;
		uint64_t start_ticks;
	} own[OWN_MAX];
	int own_count;
};

int observed_grow(void **items, int count, int *room, size_t size);
/* Names again what it is, after comm, exe or argv changed. */
void observed_identify(struct process *process);
