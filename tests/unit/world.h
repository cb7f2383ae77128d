/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * Worlds for the judge's tests, written as births from the eldest to the holder:
 *
 *     "claude !100 > bash -c x !90 > npm run dev > python3 -m http.server *"
 *
 * An entry is an argv (its first word is the executable); `!T` ended at second T, `+T` born at second T (else second 1, 2, ...), `*` holds the
 * listener. In front: ~ never called exec, ? not witnessed, % had a terminal, $ its executable can be written by others.
 */
#include "../../user/judge/policy.h"
#include "../../user/observe/config.h"

#define SECOND UINT64_C(1000000000)

/* One listener on 127.0.0.1:8000, opened at second 10 by its first holder. All facts that are asked for are known and ordinary. */
struct world *world_make(const char *births);
/* Adds another line of births, whose first entry is born of the process of this index (NONE: of nobody recorded). Returns the index of its last. */
int world_add(struct world *world, int parent, const char *births);
/* Another listener that this process holds. */
int world_listen(struct world *world, int process, uint16_t port, uint64_t opened_s);
void world_free(struct world *world);
/* Index of the first process whose executable this is. */
int world_find(const struct world *world, const char *exe);

/* agents claude, codex; people tmux; supervisors pm2; managers cron (boot 1m), gitlab-runner; wrappers npm, nohup; rules http, vite, uvicorn. */
const struct ruleset *world_ruleset(const char *more);	/* more: config text behind it; NULL */

struct judged_world {
	struct verdict verdict;
	enum step step;
	int tree[64];
	int tree_count;
	enum need_kind need;
};
/* policy_judge() once: needs are facts of this world already, so asking for one is a result. */
struct judged_world world_judge(struct world *world, const struct ruleset *ruleset, uint64_t now_s, int listener);
