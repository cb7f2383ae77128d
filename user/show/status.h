/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * status and sweep as a table and as JSON. The table says the most telling things of each listener: what will be stopped first, then what
 * waits, then what stays, by port. JSON through json-c says everything, one listener at a time (streamed, not collected).
 */
#include "../act/reaper.h"
#include "../observe/config.h"

struct status_frame {
	struct observation *observation;
	const struct ruleset *ruleset;
	const struct tracking_status *tracking;
	uint64_t now_boot_ns;
	bool has_colour;	/* a terminal and no NO_COLOR */
	bool has_header;
	int columns;		/* terminal width, 0 unlimited */
};

struct status_row {
	int listener;
	struct verdict verdict;
};

/* On a terminal that is too narrow for a useful WHY, columns are left out: SCOPE first, then USER, then ANCHOR, which WHY names too. */
/* Sorts the rows: what is due first, then by port. */
void status_print_table(const struct status_frame *frame, struct status_row *rows, int count, FILE *out);
/* act_count -1: status; else sweep, with `actions`, also when there were none. */
void status_print_json(const struct status_frame *frame, const struct status_row *rows, int count, const struct act *acts, int act_count,
		       FILE *out);
