/* SPDX-License-Identifier: GPL-2.0-only */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
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
	sink.has_priorities = !isatty(STDERR_FILENO);
}

static void begin(enum log_level level)
{
	if (sink.has_priorities)
		fprintf(stderr, "<%d>", level);
}

void log_line(enum log_level level, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	begin(level);
	if (sink.format == LOG_JSON) {
		struct json_object *object = json_object_new_object();

		json_object_object_add(object, "level", json_object_new_int(level));
		json_object_object_add(object, "message", json_string(text));
		json_write(object, stderr);
		fputc('\n', stderr);
	} else {
		fprintf(stderr, "%s\n", text);
	}
}

/* key="value" with everything that could end the value or the line escaped. */
static void put_quoted(char *line, size_t size, size_t *used, const char *key, const char *value)
{
	char text[512];
	size_t length = text_escape(value, strlen(value), sizeof(text), text, sizeof(text));

	*used += (size_t)snprintf(line + *used, *used < size ? size - *used : 0, " %s=\"", key);
	for (size_t i = 0; i < length && *used + 3 < size; i++) {
		if (text[i] == '"')
			line[(*used)++] = '\\';
		line[(*used)++] = text[i];
	}
	if (*used + 1 < size)
		line[(*used)++] = '"';
	if (*used < size)
		line[*used] = '\0';
}

static void log_act_text(const struct act *act)
{
	char line[2048], address[ADDR_TEXT_SIZE], age[DURATION_TEXT_SIZE], orphaned[DURATION_TEXT_SIZE], anchor[64];
	size_t used;

	used = (size_t)snprintf(line, sizeof(line), "%s pid=%u start=%llu", outcome_names[act->outcome], act->pid.tgid,
				(unsigned long long)act->pid.start_boot_ns);
	put_quoted(line, sizeof(line), &used, "rule", act->rule);
	put_quoted(line, sizeof(line), &used, "comm", act->comm);
	used += (size_t)snprintf(line + used, sizeof(line) - used, " uid=%u addr=%s scope=%s inode=%llu age=\"%s\"", act->uid,
				 addr_format_port(&act->address, act->port, address), scope_names[act->scope], (unsigned long long)act->inode,
				 duration_format(act->age_ns, age));
	if (act->orphaned_ns)
		used += (size_t)snprintf(line + used, sizeof(line) - used, " orphaned=\"%s\"", duration_format(act->orphaned_ns, orphaned));
	if (act->anchor.tgid) {
		snprintf(anchor, sizeof(anchor), "%s(%u)", act->anchor_comm, act->anchor.tgid);
		put_quoted(line, sizeof(line), &used, "anchor", anchor);
	}
	used += (size_t)snprintf(line + used, sizeof(line) - used, " signals=");
	for (size_t i = 0; i < sizeof(act->signal_order) / sizeof(act->signal_order[0]) && act->signal_order[i]; i++) {
		const char *name = sigabbrev_np(act->signal_order[i]);

		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s", i ? "," : "", name ? name : "?");
	}
	used += (size_t)snprintf(line + used, sizeof(line) - used, " processes=%d took=%llums", act->tree_size,
				 (unsigned long long)(act->took_ns / 1000000));
	put_quoted(line, sizeof(line), &used, "argv", act->argv);
	if (*act->why)
		put_quoted(line, sizeof(line), &used, "why", act->why);
	fprintf(stderr, "%s\n", line);
}

void log_act(const struct act *act)
{
	begin(act->outcome == OUTCOME_SURVIVED ? LEVEL_WARNING : LEVEL_NOTICE);
	if (sink.format == LOG_JSON) {
		json_write(json_act(act), stderr);
		fputc('\n', stderr);
	} else {
		log_act_text(act);
	}
}
