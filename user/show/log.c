/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../observe/proc.h"
#include "json.h"
#include "log.h"
#include "text.h"

static struct {
	enum log_format format;
	bool has_priorities;	/* sd-daemon(3): <N> in front, for the journal */
} sink;

void log_open(enum log_format format)
{
	sink.format = format;
	sink.has_priorities = format == LOG_TEXT && !isatty(STDERR_FILENO);	/* JSON Lines must stay JSON */
}

/* A line is put together here and leaves in one write, so that lines of several processes do not mix. */
struct line {
	char text[4096];
	size_t used;	/* always < sizeof(text) */
};

static void __attribute__((format(printf, 2, 3))) add(struct line *line, const char *format, ...)
{
	size_t room = sizeof(line->text) - line->used;
	va_list arguments;
	int written;

	va_start(arguments, format);
	written = vsnprintf(line->text + line->used, room, format, arguments);
	va_end(arguments);
	if (written > 0)
		line->used += (size_t)written < room ? (size_t)written : room - 1;
}

/* key="value" with everything that could end the value or the line escaped. */
static void add_quoted(struct line *line, const char *key, const char *value, size_t length)
{
	char text[768];

	text_escape(value, length, SIZE_MAX, text, sizeof(text));
	add(line, " %s=\"", key);
	for (const char *at = text; *at; at++)
		add(line, *at == '"' ? "\\%c" : "%c", *at);
	add(line, "\"");
}

/* What is said may quote a file or a name: no control character of it reaches the terminal or ends the line. */
static void add_message(struct line *line, const char *message)
{
	for (const unsigned char *at = (const unsigned char *)message; *at; at++)
		add(line, *at < ' ' || *at == 0x7f ? "\\x%02x" : "%c", *at);
}

static void begin(struct line *line, enum log_level level)
{
	line->used = 0;
	if (sink.has_priorities)
		add(line, "<%d>", (int)level);
}

static void end(struct line *line)
{
	if (line->used == sizeof(line->text) - 1)
		line->used--;
	line->text[line->used++] = '\n';
	(void)!fwrite(line->text, 1, line->used, stderr);
}

static void write_json(struct json_object *object)
{
	fprintf(stderr, "%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

void log_line(enum log_level level, const char *format, ...)
{
	struct line line;
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (sink.format == LOG_JSON) {
		struct json_object *object = json_object_new_object();

		json_object_object_add(object, "level", json_object_new_int((int)level));
		json_object_object_add(object, "message", json_string(text));
		write_json(object);
		return;
	}
	begin(&line, level);
	add_message(&line, text);
	end(&line);
}

static void log_act_text(enum log_level level, const struct act *act)
{
	char address[ADDR_TEXT_SIZE], duration[DURATION_TEXT_SIZE], anchor[COMM_SIZE + 16];
	struct line line;

	begin(&line, level);
	add(&line, "%s pid=%u start=%" PRIu64, outcome_names[act->outcome], act->pid.tgid, proc_ticks(act->pid.start_boot_ns));
	add_quoted(&line, "rule", act->rule, strnlen(act->rule, sizeof(act->rule)));
	add_quoted(&line, "comm", act->comm, strnlen(act->comm, sizeof(act->comm)));
	add(&line, " uid=%u addr=%s scope=%s inode=%" PRIu64 " age=\"%s\"", act->uid, addr_format_port(&act->address, act->port, address),
	    scope_names[act->scope], (uint64_t)act->inode, duration_format(act->age_ns, duration));
	if (act->orphaned_ns)
		add(&line, " orphaned=\"%s\"", duration_format(act->orphaned_ns, duration));
	if (act->anchor.tgid) {
		snprintf(anchor, sizeof(anchor), "%.*s(%u)", COMM_SIZE, act->anchor_comm, act->anchor.tgid);
		add_quoted(&line, "anchor", anchor, strlen(anchor));
	}
	add(&line, " signals=");
	for (size_t i = 0; i < sizeof(act->signal_order) / sizeof(act->signal_order[0]) && act->signal_order[i]; i++) {
		const char *name = sigabbrev_np(act->signal_order[i]);

		add(&line, "%s%s", i ? "," : "", name ? name : "?");
	}
	add(&line, " processes=%d took=%" PRIu64 "ms", act->tree_size, act->took_ns / 1000000);
	add_quoted(&line, "argv", act->argv, strnlen(act->argv, sizeof(act->argv)));
	if (*act->why)
		add_quoted(&line, "why", act->why, strnlen(act->why, sizeof(act->why)));
	end(&line);
}

void log_act(const struct act *act)
{
	enum log_level level = act->outcome == OUTCOME_SURVIVED || act->outcome == OUTCOME_REFUSED ? LEVEL_WARNING : LEVEL_NOTICE;

	if (sink.format == LOG_JSON) {
		struct json_object *object = json_act(act);

		json_object_object_add(object, "level", json_object_new_int((int)level));
		json_object_object_add(object, "message", json_string(outcome_names[act->outcome]));
		write_json(object);
	} else {
		log_act_text(level, act);
	}
}
