/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * The processes whose end may make somebody an orphan: everything alive from a holder up to its anchor (under a manager it is not the
 * anchor's end that counts but the job's). One pidfd each, in an epoll set of their own.
 */
#include "observation.h"

struct anchors;

int anchors_open(int proc_fd, struct anchors **ret);
void anchors_close(struct anchors *anchors);
/* To poll: readable once for each end. Take it with anchors_drain(). */
int anchors_fd(const struct anchors *anchors);
void anchors_drain(struct anchors *anchors);

/* Between start and finish everything that is still wanted is named again; the rest is forgotten. */
void anchors_start(struct anchors *anchors);
/* -ESRCH: one of them has just ended. */
int anchors_want(struct anchors *anchors, const struct world *world, const struct verdict *verdict);
void anchors_finish(struct anchors *anchors);
