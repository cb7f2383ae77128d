/* SPDX-License-Identifier: GPL-2.0-only */
/* Hostile words made safe: for the table by escapes, for JSON by valid UTF-8. */
#include <criterion/criterion.h>
#include <string.h>
#include "../../user/show/json.h"
#include "../../user/show/text.h"

#define ALL 1000

Test(text, escapes)
{
	static const struct {
		const char *sentence, *bytes;
		size_t length, columns;
		const char *text;
	} rows[] = {
		{ "plain", "node", 4, ALL, "node" },
		{ "an escape sequence", "\033[31mred", 8, ALL, "\\e[31mred" },
		{ "newline, tab, return", "a\nb\tc\r", 6, ALL, "a\\nb\\tc\\r" },
		{ "a NUL", "a\0b", 3, ALL, "a\\x00b" },
		{ "a backslash cannot pretend", "a\\n", 3, ALL, "a\\\\n" },
		{ "DEL", "a\x7f", 2, ALL, "a\\x7f" },
		{ "a C1 control", "a\xc2\x9b" "31m", 6, ALL, "a\\x9b31m" },
		{ "bytes that are no UTF-8", "a\xff\xfe", 3, ALL, "a\\xff\\xfe" },
		{ "an overlong form", "\xc0\xaf", 2, ALL, "\\xc0\\xaf" },
		{ "a surrogate", "\xed\xa0\x80", 3, ALL, "\\xed\\xa0\\x80" },
		{ "cut in the middle of a character", "\xe2\x82", 2, ALL, "\\xe2\\x82" },
		{ "text that turns round", "a\xe2\x80\xae" "b", 5, ALL, "a\\u{202e}b" },
		{ "letters of others", "\xc3\xa9\xe4\xb8\xad", 5, ALL, "\xc3\xa9\xe4\xb8\xad" },
		{ "cut to columns", "abcdef", 6, 4, "abc\xe2\x80\xa6" },
		{ "just enough columns", "abcd", 4, 4, "abcd" },
		{ "wide characters count twice", "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 9, 4, "\xe4\xb8\xad\xe2\x80\xa6" },
	};
	char buffer[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t length = text_escape(rows[i].bytes, rows[i].length, rows[i].columns, buffer, sizeof(buffer));

		cr_expect_str_eq(buffer, rows[i].text, "%s: `%s`", rows[i].sentence, buffer);
		cr_expect_eq(length, strlen(buffer), "%s", rows[i].sentence);
		cr_expect(text_columns(buffer) <= rows[i].columns, "%s: %zu columns", rows[i].sentence, text_columns(buffer));
	}
}

/* Every byte, every size of buffer: no control byte comes out, and the buffer is never overrun. */
Test(text, never_emits_a_control_byte)
{
	for (int byte = 0; byte < 256; byte++) {
		for (size_t size = 1; size < 24; size++) {
			char bytes[3] = { (char)byte, (char)byte, 'x' }, buffer[24];

			memset(buffer, 'Z', sizeof(buffer));
			text_escape(bytes, sizeof(bytes), ALL, buffer, size);
			cr_assert(strnlen(buffer, size) < size, "byte %d, size %zu: not ended", byte, size);
			for (const char *at = buffer; *at; at++)
				cr_assert((unsigned char)*at >= ' ' && *at != 0x7f, "byte %d, size %zu", byte, size);
			cr_assert_eq(buffer[size], size < sizeof(buffer) ? 'Z' : buffer[size], "byte %d, size %zu: overrun", byte, size);
		}
	}
}

Test(text, json_is_always_valid)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *text;
	} rows[] = {
		{ "node", 4, "\"node\"" },
		{ "a\"b\\c", 5, "\"a\\\"b\\\\c\"" },
		{ "a\xff", 2, "\"a\xef\xbf\xbd\"" },
		{ "\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xf4\x90\x80\x80", 4, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "a\0b\033", 4, "\"a\\u0000b\\u001b\"" },
		{ "\xe4\xb8\xad", 3, "\"\xe4\xb8\xad\"" },
		{ "", 0, "\"\"" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct json_object *object = json_text(rows[i].bytes, rows[i].length), *again;
		const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

		cr_expect_str_eq(text, rows[i].text);
		again = json_tokener_parse(text);
		cr_expect_not_null(again, "%s", text);
		json_object_put(again);
		json_object_put(object);
	}
}
