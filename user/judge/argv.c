/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>
#include "argv.h"

const char *argv_next(const struct argv *argv, const char *token)
{
	const char *next;

	if (argv->length == 0)
		return NULL;	/* bytes may be NULL then */
	next = token ? token + strlen(token) + 1 : argv->bytes;
	return next < argv->bytes + argv->length ? next : NULL;
}

size_t argv_count(const struct argv *argv)
{
	size_t count = 0;

	for (const char *token = argv_next(argv, NULL); token; token = argv_next(argv, token))
		count++;
	return count;
}

/* Cut in the middle of a token, or exactly behind its NUL: then it is whole. */
bool argv_is_partial(const struct argv *argv, const char *token)
{
	return argv->is_cut && token + strlen(token) >= argv->bytes + argv->length;
}
