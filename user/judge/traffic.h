/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/* Is the listener in use (design.md, Words)? By ESTABLISHED connections whose peer is outside the tree, or by a TIME_WAIT. Pure. */
#include "tree.h"

struct traffic {
	int connections;	/* those that count as in use */
	bool has_time_wait;	/* one that left less than a minute ago */
};

/* walk: of the holder that decides; a leftover peer whose own walk ends at the same ended anchor keeps nobody alive. */
struct traffic traffic_count(struct world *world, const struct ruleset *ruleset, int listener, const struct tree *tree,
			     const struct walk *walk);
