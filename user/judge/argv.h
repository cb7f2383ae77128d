/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * argv as exec got it: one block of NUL-terminated tokens, never a joined line. Pure. A block may be cut (the
 * record keeps the first bytes only): its last token is then a beginning, and what follows is not known.
 */
#include <stdbool.h>
#include <stddef.h>

struct argv {
	const char *bytes;	/* may be NULL when length is 0; the byte behind the last token is NUL even when cut */
	size_t length;		/* including each token's NUL */
	bool is_cut;		/* more may follow; the last token may be incomplete */
	bool is_known;		/* false: could not be read at all; length is 0 */
};

/* Walks tokens: start with NULL; NULL at the end. */
const char *argv_next(const struct argv *argv, const char *token);
size_t argv_count(const struct argv *argv);
/* Is this token the last one of a cut block, so that only its beginning is known? */
bool argv_is_partial(const struct argv *argv, const char *token);
