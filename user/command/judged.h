/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/* Every listener of the host with its verdict: what status shows, explain explains and `sweep --json` prints. */
#include "../show/status.h"
#include "command.h"

struct judged {
	struct observation *observation;
	struct tracking_status tracking;
	uint64_t now_boot_ns;
	struct status_row *rows;
	int count;
};

/* filter NULL: all. Holders of the rows are described for showing. 0 or negative errno with *ret_failure. */
int judged_take(struct session *session, const struct filter *filter, struct judged *ret, struct failure *ret_failure);
/* Only the listeners that can be due by now, and nothing for showing: what a sweep that prints nothing needs. */
int judged_take_due(struct session *session, struct judged *ret, struct failure *ret_failure);
void judged_free(struct judged *judged);
/* How stdout wants it. */
struct status_frame judged_frame(const struct session *session, const struct judged *judged, bool has_header);
