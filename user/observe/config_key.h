/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * The keys of the config file (contract.md): where each may stand, how its value is read and how it is written again. One table,
 * used in both directions. Private to config.c.
 *
 * Values. Alternatives are separated by |, tokens by white space. '...' and "..." keep white space, | and # in a token and are
 * removed; there are no escapes outside them but fnmatch(3)'s own backslash.
 */
#include <stdbool.h>
#include <stdio.h>
#include "../judge/rules.h"
#include "arena.h"
#include "failure.h"

/* Where we are in which text: what a complaint names, and where what is read is kept. */
struct config_source {
	const char *name;
	int line;
	struct arena *arena;
	struct failure *failure;
};

/* "NAME:LINE: message" into the source's failure; returns -EINVAL. _at: of another line, 0 none. */
int config_refuse(const struct config_source *source, const char *format, ...) __attribute__((format(printf, 2, 3)));
int config_refuse_at(const struct config_source *source, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
int config_no_memory(const struct config_source *source);	/* returns -ENOMEM */

/* Everything a section can say. */
struct config_values {
	bool is_observe;
	bool drops_shipped;
	uint32_t max_reaps;
	uint64_t boot_ns;
	struct rule rule;
};

enum config_place {
	PLACE_LISTENREAP = 1 << 0,
	PLACE_DEFAULTS = 1 << 1,
	PLACE_RULE = 1 << 2,
	PLACE_PROTECT = 1 << 3,		/* [protect] */
	PLACE_PROTECTION = 1 << 4,	/* [protect NAME] */
	PLACE_LIST = 1 << 5,		/* [agents] and its like */
	PLACE_MANAGERS = 1 << 6,	/* [managers] */
	PLACE_NAMED_LIST = 1 << 7,	/* [agents NAME] and its like */
};

enum config_key_id {
	KEY_MODE, KEY_MAX_REAPS, KEY_BOOT, KEY_SHIPPED,
	KEY_PROGRAM, KEY_SCRIPT, KEY_ARGV, KEY_WITH, KEY_WITHOUT, KEY_BORN_OF, KEY_ANCHOR, KEY_USER, KEY_CGROUP, KEY_PORT, KEY_SCOPE,
	KEY_NETNS, KEY_PIDNS, KEY_ENV,
	KEY_STALE_AFTER, KEY_STALE_AFTER_EXPOSED, KEY_ORPHAN, KEY_IN_USE, KEY_OPERATOR, KEY_SIGNAL, KEY_GRACE, KEY_ACTION,
	KEY_MAX
};

struct config_key {
	const char *name;
	unsigned places;	/* enum config_place */
	bool adds;		/* repeated, it adds an alternative; else it may stand once in a section */
	size_t offset, size;	/* the bytes of struct config_values that are its alone */
	int (*read)(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values);
	void (*write)(const struct config_key *key, const struct config_values *values, FILE *out);
};

extern const struct config_key config_keys[KEY_MAX];

/* The known name nearest to what was written; NULL when none is near. */
const char *config_nearest(const char *written, const char *const *names, size_t count);
/* Which of names is text; -EINVAL after a complaint that lists them. */
int config_read_word(const struct config_source *source, const char *key, const char *text, const char *const *names, size_t count,
		     size_t *ret);
