/* SPDX-License-Identifier: GPL-2.0-only */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "../../user/judge/argv.h"

#define BLOCK(text, cut) { .bytes = (text), .length = sizeof(text) - 1, .is_cut = (cut), .is_known = true }

Test(argv, tokens_one_after_the_other)
{
	static const struct {
		const char *sentence;
		struct argv argv;
		size_t count;
		const char *last;		/* NULL: none */
		bool is_last_partial;
	} rows[] = {
		{ "nothing, and nowhere", { .bytes = NULL, .length = 0, .is_known = true }, 0, NULL, false },
		{ "not known", { .bytes = NULL, .length = 0, .is_known = false }, 0, NULL, false },
		{ "one", BLOCK("a\0", false), 1, "a", false },
		{ "three", BLOCK("python3\0-m\0http.server\0", false), 3, "http.server", false },
		{ "an empty one counts", BLOCK("a\0\0b\0", false), 3, "b", false },
		{ "an empty last one too", BLOCK("a\0\0", false), 2, "", false },
		{ "nothing but empty ones", BLOCK("\0\0\0", false), 3, "", false },
		{ "blanks and quotes are of the token", BLOCK("sh\0-c\0a b \"c\n\0", false), 3, "a b \"c\n", false },
		{ "the last NUL is missing", BLOCK("a\0b", false), 2, "b", false },
		{ "cut within a token", BLOCK("a\0bc", true), 2, "bc", true },
		{ "cut behind the NUL of one", BLOCK("a\0bc\0", true), 2, "bc", false },
		{ "cut within the first", BLOCK("a", true), 1, "a", true },
		{ "cut behind an empty one", BLOCK("a\0\0", true), 2, "", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct argv *argv = &rows[i].argv;
		const char *last = NULL;

		for (const char *token = argv_next(argv, NULL); token; token = argv_next(argv, token)) {
			if (last)
				cr_expect_not(argv_is_partial(argv, last), "%s: partial before the last", rows[i].sentence);
			last = token;
		}
		cr_expect_eq(argv_count(argv), rows[i].count, "%s: %zu tokens", rows[i].sentence, argv_count(argv));
		cr_expect(last == rows[i].last || (last && rows[i].last && strcmp(last, rows[i].last) == 0), "%s: last is `%s`", rows[i].sentence,
			  last ? last : "(none)");
		if (last)
			cr_expect_eq(argv_is_partial(argv, last), rows[i].is_last_partial, "%s: partial", rows[i].sentence);
	}
}

/* At the very end of what was allocated: under ASan a byte too far ends the test. */
Test(argv, does_not_look_behind_the_block)
{
	for (size_t length = 1; length <= 64; length++) {
		char *bytes = malloc(length + 1);
		struct argv argv = { .bytes = bytes, .length = length, .is_cut = true, .is_known = true };

		memset(bytes, 'a', length);
		bytes[length] = '\0';
		cr_expect_eq(argv_count(&argv), 1);
		memset(bytes, '\0', length);
		cr_expect_eq(argv_count(&argv), length);
		free(bytes);
	}
}
