/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "status.h"
#include "text.h"

#define CELL_SIZE 512

struct cell_at {
	const struct status_frame *frame;
	const struct world *world;
	const struct listener *listener;
	const struct status_row *row;
};

static const struct process *first_holder(const struct cell_at *at)
{
	return &at->world->processes[at->world->holders[at->listener->first_holder].process];
}

static void say_verdict(const struct cell_at *at, char *cell, size_t size)
{
	snprintf(cell, size, "%s", verdict_names[at->row->verdict.kind]);
}

static void say_address(const struct cell_at *at, char *cell, size_t size)
{
	char address[ADDR_TEXT_SIZE];

	snprintf(cell, size, "%s", addr_format_port(&at->listener->address, at->listener->port, address));
}

static void say_scope(const struct cell_at *at, char *cell, size_t size)
{
	snprintf(cell, size, "%s", scope_names[addr_scope(&at->listener->address, at->listener->bound_dev)]);
}

static void say_age(const struct cell_at *at, char *cell, size_t size)
{
	uint64_t now = at->frame->now_boot_ns, opened = at->listener->opened_boot_ns;
	char age[DURATION_TEXT_SIZE];

	if (opened == 0)
		snprintf(cell, size, "?");
	else
		snprintf(cell, size, "%s%s", at->listener->is_age_exact ? "" : ">", duration_format(now > opened ? now - opened : 0, age));
}

static void say_user(const struct cell_at *at, char *cell, size_t size)
{
	snprintf(cell, size, "%s", text_user(first_holder(at)->uid));
}

static void say_program(const struct cell_at *at, char *cell, size_t size)
{
	text_process(first_holder(at), cell, size);
	if (at->listener->holder_count > 1) {
		size_t used = strlen(cell);

		snprintf(cell + used, size - used, "+%d", at->listener->holder_count - 1);
	}
}

static void say_anchor(const struct cell_at *at, char *cell, size_t size)
{
	const struct walk *walk = &at->row->verdict.walk;

	if (walk->anchor == NONE) {
		snprintf(cell, size, "?");
		return;
	}
	text_process(&at->world->processes[walk->anchor], cell, size);
	if (!walk->is_anchor_alive) {
		size_t used = strlen(cell);

		snprintf(cell + used, size - used, " ended");
	}
}

static void say_why(const struct cell_at *at, char *cell, size_t size)
{
	text_detail(at->world, at->frame->ruleset, &at->row->verdict, at->row->listener, at->frame->now_boot_ns, cell, size);
}

/* The table: a heading, how to say it. The last column is as wide as it likes, and is cut on a terminal. */
static const struct {
	const char *heading;
	void (*say)(const struct cell_at *at, char *cell, size_t size);
} columns[] = {
	{ "VERDICT", say_verdict }, { "ADDRESS", say_address }, { "SCOPE", say_scope }, { "AGE", say_age }, { "USER", say_user },
	{ "PROGRAM", say_program }, { "ANCHOR", say_anchor }, { "WHY", say_why },
};
#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

static struct cell_at cell_at(const struct status_frame *frame, const struct status_row *row)
{
	const struct world *world = observation_world(frame->observation);

	return (struct cell_at){ frame, world, &world->listeners[row->listener], row };
}

static void pad(FILE *out, size_t columns_left)
{
	for (; columns_left > 0; columns_left--)
		fputc(' ', out);
}

static const char *colour_of(enum verdict_kind kind)
{
	switch (kind) {
	case VERDICT_REAP: return "\033[31m";
	case VERDICT_WAIT: return "\033[33m";
	default: return "\033[32m";
	}
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct world *world = arg;
	const struct status_row *first = a, *second = b;
	const struct listener *one = &world->listeners[first->listener], *two = &world->listeners[second->listener];

	if (first->verdict.kind != second->verdict.kind)
		return first->verdict.kind > second->verdict.kind ? -1 : 1;
	if (one->port != two->port)
		return one->port < two->port ? -1 : 1;
	if (one->address.family != two->address.family)
		return one->address.family < two->address.family ? -1 : 1;
	return one->inode < two->inode ? -1 : one->inode > two->inode;
}

/* Cuts what is wider than the terminal: text is already escaped, so a second pass changes nothing but the length. */
static void cut(char *cell, size_t columns_left)
{
	char whole[CELL_SIZE];

	if (text_columns(cell) <= columns_left)
		return;
	memcpy(whole, cell, CELL_SIZE);
	/* Undo nothing: a backslash of an escape would be escaped again, so cut by hand. */
	for (size_t length = strlen(whole); length > 0 && text_columns(whole) + 1 > columns_left; length--)
		whole[length - 1] = '\0';
	for (size_t length = strlen(whole); length > 0 && (whole[length - 1] & 0xc0) == 0x80; length--)
		whole[length - 1] = '\0';
	snprintf(cell, CELL_SIZE, "%.*s\xe2\x80\xa6", CELL_SIZE - 8, whole);
}

static void print_row(const struct status_frame *frame, const struct status_row *row, const size_t *widths, FILE *out)
{
	struct cell_at at = cell_at(frame, row);
	size_t used = 0;
	char cell[CELL_SIZE];

	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		bool is_last = i + 1 == COLUMN_COUNT;

		columns[i].say(&at, cell, sizeof(cell));
		if (is_last && frame->columns > 0)
			cut(cell, (size_t)frame->columns > used + 12 ? (size_t)frame->columns - used : 12);
		if (i == 0 && frame->has_colour)
			fputs(colour_of(row->verdict.kind), out);
		fputs(cell, out);
		if (i == 0 && frame->has_colour)
			fputs("\033[0m", out);
		if (!is_last)
			pad(out, widths[i] - text_columns(cell) + 2);
		used += widths[i] + 2;
	}
	fputc('\n', out);
}

void status_print_table(const struct status_frame *frame, const struct status_row *rows, int count, FILE *out)
{
	struct status_row *sorted = malloc(((size_t)count + 1) * sizeof(*sorted));
	size_t widths[COLUMN_COUNT];
	char cell[CELL_SIZE];

	if (sorted) {
		memcpy(sorted, rows, (size_t)count * sizeof(*sorted));
		qsort_r(sorted, (size_t)count, sizeof(*sorted), compare_rows, observation_world(frame->observation));
		rows = sorted;
	}
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		widths[i] = frame->has_header ? strlen(columns[i].heading) : 0;
	for (int row = 0; row < count; row++) {
		struct cell_at at = cell_at(frame, &rows[row]);

		for (size_t i = 0; i + 1 < COLUMN_COUNT; i++) {
			size_t width;

			columns[i].say(&at, cell, sizeof(cell));
			width = text_columns(cell);
			if (width > widths[i])
				widths[i] = width;
		}
	}
	for (size_t i = 0; i < COLUMN_COUNT && frame->has_header; i++) {
		fputs(columns[i].heading, out);
		if (i + 1 < COLUMN_COUNT)
			pad(out, widths[i] - strlen(columns[i].heading) + 2);
	}
	if (frame->has_header)
		fputc('\n', out);
	for (int row = 0; row < count; row++)
		print_row(frame, &rows[row], widths, out);
	free(sorted);
}
