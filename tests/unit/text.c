/* SPDX-License-Identifier: GPL-2.0-only */
/* Hostile words made safe: for the table by escapes, for JSON by valid UTF-8. */
#include <criterion/criterion.h>
#include <string.h>
#include "../../user/show/json.h"
#include "../../user/show/text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(text) text, sizeof(text) - 1

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

/* Characters that cannot be seen, or change how others are read. */
Test(text, escapes_what_deceives)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *shown;
	} rows[] = {
		{ BYTES("\xe2\x81\xa6x\xe2\x81\xa9"), "\\u{2066}x\\u{2069}" },	/* isolates */
		{ BYTES("ssh\xe2\x80\x8b" "d"), "ssh\\u{200b}d" },		/* zero width space */
		{ BYTES("\xe2\x80\xa8"), "\\u{2028}" },			/* line separator */
		{ BYTES("\xef\xbb\xbf"), "\\u{feff}" },			/* byte order mark */
		{ BYTES("a\xef\xb8\x8f"), "a\\u{fe0f}" },			/* variation selector */
		{ BYTES("\xe3\x85\xa4"), "\\u{3164}" },			/* a filler that is blank */
		{ BYTES("\xf3\xa0\x81\x81"), "\\u{e0041}" },		/* a tag */
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[64];

		text_escape(rows[i].bytes, rows[i].length, SIZE_MAX, text, sizeof(text));
		cr_expect_str_eq(text, rows[i].shown);
	}
}

Test(text, cuts_at_columns)
{
	static const struct {
		const char *what, *bytes;
		size_t columns;
		const char *shown;
	} rows[] = {
		{ "fits", "abcd", 4, "abcd" },
		{ "does not fit", "abcde", 4, "abc\xe2\x80\xa6" },
		{ "one column", "ab", 1, "\xe2\x80\xa6" },
		{ "no column", "ab", 0, "" },
		{ "an escape is never cut in two", "ab\x1b" "c", 4, "ab\xe2\x80\xa6" },
		{ "an escape that fits exactly", "ab\x1b", 4, "ab\\e" },
		{ "wide characters count two", "\xe6\xbc\xa2\xe5\xad\x97", 4, "\xe6\xbc\xa2\xe5\xad\x97" },
		{ "half a wide character is none", "\xe6\xbc\xa2\xe5\xad\x97", 3, "\xe6\xbc\xa2\xe2\x80\xa6" },
		{ "combining marks count none", "e\xcc\x81", 1, "e\xcc\x81" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[64];

		text_escape(rows[i].bytes, strlen(rows[i].bytes), rows[i].columns, text, sizeof(text));
		cr_expect_str_eq(text, rows[i].shown, "%s: %s", rows[i].what, text);
		cr_expect(text_columns(text) <= rows[i].columns, "%s is %zu columns", rows[i].what, text_columns(text));
	}
}

/* Whatever the size of the buffer: whole characters, a NUL, nothing behind it. */
Test(text, fits_every_buffer)
{
	static const char hostile[] = "a\xe6\xbc\xa2\x1b\xff\xe2\x80\xae\\\n\xf0\x9f\x90\x99" "zzzzzzzz";

	for (size_t size = 1; size < 64; size++) {
		char text[64];
		size_t length;
		uint32_t point;

		memset(text, '#', sizeof(text));
		length = text_escape(hostile, sizeof(hostile) - 1, SIZE_MAX, text, size);
		cr_assert(length < size && text[length] == '\0' && strlen(text) == length, "size %zu", size);
		for (size_t at = size; at < sizeof(text); at++)
			cr_assert(text[at] == '#', "size %zu wrote at %zu", size, at);
		for (size_t at = 0; at < length;) {
			int step = text_decode(text + at, length - at, &point);

			cr_assert(step > 0 && point >= ' ' && point != 0x7f, "size %zu at %zu", size, at);
			at += (size_t)step;
		}
	}
	cr_assert(text_escape(hostile, sizeof(hostile) - 1, SIZE_MAX, NULL, 0) == 0);
}

/* One replacement for each maximal subpart: what Python's errors="replace" and browsers do (Unicode 15, table 3-11). */
Test(text, decodes_as_unicode_recommends)
{
	static const struct {
		const char *bytes;
		size_t length;
		int step;
	} rows[] = {
		{ BYTES("A"), 1 }, { BYTES("\xc3\xbc"), 2 }, { BYTES("\xe2\x82\xac"), 3 }, { BYTES("\xf0\x9f\x90\x99"), 4 },
		{ BYTES("\x80"), -1 }, { BYTES("\xc0\xaf"), -1 }, { BYTES("\xe0\x9f\x80"), -1 }, { BYTES("\xed\xa0\x80"), -1 }, { BYTES("\xf5\x80"), -1 },
		{ BYTES("\xe2\x82"), -2 }, { BYTES("\xe2\x82" "A"), -2 }, { BYTES("\xf0\x9f\x90"), -3 }, { BYTES("\xf0\x9f" "A"), -2 }, { BYTES("\xf4\x90"), -1 },
		{ BYTES("\xc3" "A"), -1 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint32_t point;

		cr_expect(text_decode(rows[i].bytes, rows[i].length, &point) == rows[i].step, "row %zu", i);
	}
}

/* argv: tokens, each with its NUL. */
static struct process process_of(const char *exe, const char *comm, const char *argv, size_t length)
{
	struct process process = {
		.id = { .tgid = 4711 }, .exe = exe, .comm = comm, .argv = { .bytes = argv, .length = length, .is_known = true },
		.birth_parent = NONE,
	};

	program_identify(exe, comm, &process.argv, &process.program);
	return process;
}

#define ARGV(text) text "\0", sizeof(text)

Test(text, names_processes)
{
	static const struct {
		const char *exe, *comm, *argv;
		size_t length;
		const char *name, *command;
	} rows[] = {
		{ "nginx", "nginx", ARGV("nginx\0-g\0daemon off;"), "nginx(4711)", "nginx" },
		{ "node", "node", ARGV("node\0/srv/server.mjs"), "server(4711)", "node server.mjs" },
		{ "node", "npm run dev", ARGV("node\0/app/node_modules/vite/bin/vite.js"), "vite(4711)", "node vite.js" },
		{ "python3.11", "python3", ARGV("python3\0-m\0http.server\0008000"), "http.server(4711)", "python3.11 -m http.server" },
		{ "python3.11", "python3", ARGV("python3"), "python3(4711)", "python3" },
		{ "chromedriver-linux", "chromedriver-li", ARGV("chromedriver-linux"), "chromedriver-linux(4711)", "chromedriver-linux" },
		{ "busybox", "httpd", ARGV("httpd"), "httpd(4711)", "httpd" },
		{ NULL, "", ARGV(""), "?(4711)", "?" },
		{ "evil", "\x1b[2J", ARGV("evil"), "\\e[2J(4711)", "\\e[2J" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct process process = process_of(rows[i].exe, rows[i].comm, rows[i].argv, rows[i].length);
		char text[160];

		text_process(&process, text, sizeof(text));
		cr_expect_str_eq(text, rows[i].name);
		text_command(&process, text, sizeof(text));
		cr_expect_str_eq(text, rows[i].command);
	}
}

Test(text, finds_the_cgroup)
{
	static const struct {
		const char *lines, *path;
	} rows[] = {
		{ "0::/user.slice/a.scope\n", "/user.slice/a.scope" },
		{ "12:cpu:/old\n1:name=systemd:/older\n0::/new\n", "/new" },
		{ "12:cpu:/old\n1:name=systemd:/older\n", "/old" },
		{ "10::/a\n0::/b:c", "/b:c" },
		{ "0::/\n", "/" },
		{ "nonsense", NULL },
		{ "", NULL },
		{ NULL, NULL },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct span path = text_cgroup(rows[i].lines);

		if (rows[i].path)
			cr_expect(span_equals(path, rows[i].path), "row %zu", i);
		else
			cr_expect(path.start == NULL && path.length == 0, "row %zu", i);
	}
}

Test(text, names_users)
{
	cr_expect_str_eq(text_user(0), "root");
	cr_expect_str_eq(text_user(4000000123), "4000000123");
	cr_expect_str_eq(text_user(0), "root");
}
