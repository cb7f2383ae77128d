/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <locale.h>
#include <pwd.h>
#include <string.h>
#include <wchar.h>
#include "text.h"

int text_decode(const char *bytes, size_t length, uint32_t *ret_point)
{
	const unsigned char *at = (const unsigned char *)bytes;
	/* What may follow the lead: Unicode 15, table 3-7. Only the first continuation is ever narrower than 80..BF. */
	unsigned char lead = at[0], lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80, highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
	int size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
	uint32_t point = size < 2 ? lead : lead & (0x7fu >> size);

	if (size == 0)
		return -1;
	for (int i = 1; i < size; i++) {
		if ((size_t)i >= length || at[i] < lowest || at[i] > highest)
			return -i;
		point = point << 6 | (at[i] & 0x3f);
		lowest = 0x80;
		highest = 0xbf;
	}
	*ret_point = point;
	return size;
}

/* The C library knows the width of a character only in a locale; ours stays "C", in which fnmatch(3) is ten times as fast. */
static size_t width_of(uint32_t point)
{
	static locale_t utf8;
	locale_t before;
	int width;

	if (point < 0x80)
		return 1;
	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!utf8)
		return 1;
	before = uselocale(utf8);
	width = wcwidth((wchar_t)point);
	uselocale(before);
	return width < 0 ? 1 : (size_t)width;
}

/* Format characters that change how what follows is read, or cannot be seen: bidi controls, zero width, separators, fillers, selectors, tags. */
static bool is_deceptive(uint32_t point)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0xad, 0xad }, { 0x34f, 0x34f }, { 0x61c, 0x61c }, { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },
		{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },
		{ 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	return false;
}

static bool is_plain(unsigned char byte)
{
	return byte >= ' ' && byte < 0x7f && byte != '\\';
}

/* How the code point at the front is shown; *ret_step bytes are used up by it. Returns the length of piece, *ret_width its columns. */
static size_t escape_one(const char *bytes, size_t length, char piece[static 16], size_t *ret_step, size_t *ret_width)
{
	uint32_t point = (unsigned char)bytes[0];
	int step = 1, written;

	*ret_step = *ret_width = 1;
	if (is_plain((unsigned char)bytes[0])) {
		piece[0] = (char)point;
		return 1;
	}
	if (point >= 0x80)
		step = text_decode(bytes, length, &point);
	if (step < 0) {
		written = snprintf(piece, 16, "\\x%02x", (unsigned char)bytes[0]);
	} else if (point == '\n' || point == '\t' || point == '\r' || point == 0x1b || point == '\\') {
		written = snprintf(piece, 16, "\\%c", point == '\n' ? 'n' : point == '\t' ? 't' : point == '\r' ? 'r' : point == 0x1b ? 'e' : '\\');
	} else if (point < 0xa0) {
		written = snprintf(piece, 16, "\\x%02x", point);
		*ret_step = (size_t)step;
	} else if (is_deceptive(point)) {
		written = snprintf(piece, 16, "\\u{%04x}", point);
		*ret_step = (size_t)step;
	} else {
		memcpy(piece, bytes, (size_t)step);
		*ret_step = (size_t)step;
		*ret_width = width_of(point);
		return (size_t)step;
	}
	*ret_width = (size_t)written;
	return (size_t)written;
}

size_t text_escape(const char *bytes, size_t length, size_t columns, char *buffer, size_t size)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	size_t used = 0, shown = 0, fit_used = 0;	/* fit: what leaves room for an ellipsis */

	if (size == 0)
		return 0;
	for (size_t at = 0, step; at < length; at += step) {
		char piece[16];
		size_t width, piece_length;

		/* Nearly all that is ever shown; one column each. */
		for (; at < length && is_plain((unsigned char)bytes[at]) && shown + 1 < columns && used + sizeof(ellipsis) < size; at++, shown++)
			buffer[used++] = bytes[at];
		if (at == length)
			break;
		piece_length = escape_one(bytes + at, length - at, piece, &step, &width);

		if (shown < columns && used + sizeof(ellipsis) <= size)
			fit_used = used;
		if (shown + width > columns || used + piece_length >= size) {
			used = fit_used;
			if (columns > 0 && used + sizeof(ellipsis) <= size) {
				memcpy(buffer + used, ellipsis, sizeof(ellipsis) - 1);
				used += sizeof(ellipsis) - 1;
			}
			break;
		}
		memcpy(buffer + used, piece, piece_length);
		used += piece_length;
		shown += width;
	}
	buffer[used] = '\0';
	return used;
}

size_t text_columns(const char *text)
{
	size_t length = strlen(text), columns = 0;

	for (size_t at = 0; at < length;) {
		uint32_t point = 0;
		int step;

		if ((unsigned char)text[at] < 0x80) {
			at++;
			columns++;
			continue;
		}
		step = text_decode(text + at, length - at, &point);
		columns += step < 0 ? 1 : width_of(point);
		at += (size_t)(step < 0 ? -step : step);
	}
	return columns;
}

const char *text_user(uint32_t uid)
{
	static struct {
		uint32_t uid;
		bool is_used;
		char name[40];
	} cache[64];
	unsigned slot = uid % (sizeof(cache) / sizeof(cache[0]));
	const struct passwd *user;

	if (cache[slot].is_used && cache[slot].uid == uid)
		return cache[slot].name;
	user = getpwuid(uid);
	cache[slot].uid = uid;
	cache[slot].is_used = true;
	if (user)
		text_escape(user->pw_name, strlen(user->pw_name), 32, cache[slot].name, sizeof(cache[slot].name));
	else
		snprintf(cache[slot].name, sizeof(cache[slot].name), "%u", uid);
	return cache[slot].name;
}

/* The name that tells most: what an interpreter runs, else what was executed (comm is cut to 15 bytes; the executable's name has the rest). */
static struct span best_name(const struct process *process)
{
	const struct program *program = &process->program;
	size_t length = process->comm ? strlen(process->comm) : 0;

	if (program->package.length)
		return program->package;
	if (program->script.length)
		return program->script;
	if (program->module.length)
		return program->module;
	if (program->main.length)
		return program->main;
	if (length == COMM_SIZE - 1 && program->exe.length > length && memcmp(program->exe.start, process->comm, length) == 0)
		return program->exe;
	if (length)
		return (struct span){ process->comm, length };
	return program->exe.length ? program->exe : program->argv0;
}

static size_t escape_span(struct span text, size_t columns, char *buffer, size_t size)
{
	return text.length ? text_escape(text.start, text.length, columns, buffer, size) : text_escape("?", 1, columns, buffer, size);
}

void text_process(const struct process *process, char *buffer, size_t size)
{
	char pid[16], *at = pid + sizeof(pid) - 2;
	size_t used = escape_span(best_name(process), 32, buffer, size), length;
	uint32_t number = process->id.tgid;

	/* By hand: a table of ten thousand listeners has forty thousand of these. */
	memcpy(at, ")", 2);
	do
		*--at = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	*--at = '(';
	length = strlen(at);
	if (used + length < size)
		memcpy(buffer + used, at, length + 1);
}

/* What an interpreter was told to run; none for anything else. */
static struct span told_to_run(const struct program *program)
{
	struct span path = program->script_path;
	const char *slash;

	if (program->interpreter == INTERPRETER_NONE)
		return (struct span){ NULL, 0 };
	if (program->module.length)
		return program->module;
	if (!path.length)
		return program->main;
	slash = memrchr(path.start, '/', path.length);
	if (slash && slash + 1 < path.start + path.length)
		path = (struct span){ slash + 1, path.length - (size_t)(slash + 1 - path.start) };
	return path;
}

void text_command(const struct process *process, char *buffer, size_t size)
{
	const struct program *program = &process->program;
	struct span head = program->exe.length ? program->exe : program->argv0, tail = told_to_run(program);
	size_t used = escape_span(tail.length && head.length ? head : best_name(process), 40, buffer, size);

	if (!tail.length || !head.length)
		return;
	used += (size_t)snprintf(buffer + used, size - used, "%s", program->module.length ? " -m " : " ");
	if (used < size)
		escape_span(tail, 40, buffer + used, size - used);
}

uint64_t text_since(uint64_t now_boot_ns, uint64_t then_boot_ns)
{
	return now_boot_ns > then_boot_ns ? now_boot_ns - then_boot_ns : 0;
}

struct span text_cgroup(const char *lines)
{
	const char *chosen = lines, *path;

	for (const char *line = lines; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "0::", 3) == 0) {
			chosen = line;
			break;
		}
	}
	path = chosen ? strchr(chosen, ':') : NULL;
	path = path ? strchr(path + 1, ':') : NULL;
	return path ? (struct span){ path + 1, strcspn(path + 1, "\n") } : (struct span){ NULL, 0 };
}
