/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "status.h"
#include "text.h"

#define CELL_SIZE DETAIL_SIZE

struct cell_at {
	const struct status_frame *frame;
	const struct world *world;
	const struct listener *listener;
	const struct status_row *row;
};

/* The holder whose owner decides, else the first; NULL when it lost its last one. */
static const struct process *shown_holder(const struct cell_at *at)
{
	if (at->row->verdict.decider != NONE)
		return &at->world->processes[at->row->verdict.decider];
	return at->listener->holder_count > 0 ? &at->world->processes[at->world->holders[at->listener->first_holder].process] : NULL;
}

static void put(char *cell, size_t size, const char *text)
{
	size_t length = strnlen(text, size - 1);

	memcpy(cell, text, length);
	cell[length] = '\0';
}

static void say_verdict(const struct cell_at *at, char *cell, size_t size)
{
	put(cell, size, verdict_names[at->row->verdict.kind]);
}

static void say_address(const struct cell_at *at, char *cell, size_t size)
{
	char address[ADDR_TEXT_SIZE];

	put(cell, size, addr_format_port(&at->listener->address, at->listener->port, address));
}

static void say_scope(const struct cell_at *at, char *cell, size_t size)
{
	put(cell, size, scope_names[addr_scope(&at->listener->address, at->listener->bound_dev)]);
}

static void say_age(const struct cell_at *at, char *cell, size_t size)
{
	uint64_t now = at->frame->now_boot_ns, opened = at->listener->opened_boot_ns;
	char age[DURATION_TEXT_SIZE];

	if (opened == 0) {
		put(cell, size, "?");
	} else {
		put(cell, size, at->listener->is_age_exact ? "" : ">");
		put(cell + strlen(cell), size - 1, duration_format(text_since(now, opened), age));
	}
}

static void say_user(const struct cell_at *at, char *cell, size_t size)
{
	const struct process *holder = shown_holder(at);

	put(cell, size, holder ? text_user(holder->uid) : "-");
}

static void say_program(const struct cell_at *at, char *cell, size_t size)
{
	const struct process *holder = shown_holder(at);

	if (holder)
		text_process(holder, cell, size);
	else
		put(cell, size, "-");
	if (at->listener->holder_count > 1) {
		size_t used = strlen(cell);

		snprintf(cell + used, size - used, "+%d", at->listener->holder_count - 1);
	}
}

static void say_anchor(const struct cell_at *at, char *cell, size_t size)
{
	const struct walk *walk = &at->row->verdict.walk;

	if (walk->anchor == NONE) {
		put(cell, size, "?");
		return;
	}
	text_process(&at->world->processes[walk->anchor], cell, size);
	if (!walk->is_anchor_alive) {
		size_t used = strlen(cell);

		put(cell + used, size - used, " ended");
	}
}

static void say_why(const struct cell_at *at, char *cell, size_t size)
{
	text_detail(at->world, at->frame->ruleset, &at->row->verdict, at->row->listener, at->frame->now_boot_ns, cell, size);
}

/* The table: a heading, how to say it, and which column goes first on a narrow terminal (0 stays). The last is as wide as it likes. */
static const struct column {
	const char *heading;
	void (*say)(const struct cell_at *at, char *cell, size_t size);
	int leaves;
} columns[] = {
	{ "VERDICT", say_verdict, 0 }, { "ADDRESS", say_address, 0 }, { "SCOPE", say_scope, 1 }, { "AGE", say_age, 0 }, { "USER", say_user, 2 },
	{ "PROGRAM", say_program, 0 }, { "ANCHOR", say_anchor, 3 }, { "WHY", say_why, 0 },
};
#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))
#define LAST (COLUMN_COUNT - 1)
#define GAP 2
#define WHY_COLUMNS 36	/* below that a WHY says too little */

/* What was measured for one table: a width of 0 leaves the column out. */
struct layout {
	size_t widths[LAST];
	size_t why_columns;	/* 0 unlimited */
};

static struct cell_at cell_at(const struct status_frame *frame, const struct status_row *row)
{
	const struct world *world = observation_world(frame->observation);

	return (struct cell_at){ frame, world, &world->listeners[row->listener], row };
}

static void pad(FILE *out, size_t columns_left)
{
	static const char spaces[] = "                                ";

	for (size_t length; columns_left > 0; columns_left -= length) {
		length = columns_left < sizeof(spaces) - 1 ? columns_left : sizeof(spaces) - 1;
		fwrite(spaces, 1, length, out);
	}
}

/* What is spared needs nobody's eye. */
static const char *colour_of(enum verdict_kind kind)
{
	switch (kind) {
	case VERDICT_REAP: return "\033[31m";
	case VERDICT_WAIT: return "\033[33m";
	default: return "\033[2m";
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

/* Cuts what is wider than the terminal. The text is already escaped: what is cut is one that has no more to escape. */
static void print_cut(const char *cell, size_t columns_left, FILE *out)
{
	size_t length = strlen(cell), shown = 0;

	if (text_columns(cell) <= columns_left) {
		fputs(cell, out);
		return;
	}
	for (size_t at = 0; at < length;) {
		uint32_t point;
		int step = text_decode(cell + at, length - at, &point);
		char piece[8] = "";
		size_t width;

		memcpy(piece, cell + at, step > 0 ? (size_t)step : 1);
		width = text_columns(piece);
		if (shown + width + 1 > columns_left)
			break;
		fputs(piece, out);
		shown += width;
		at += step > 0 ? (size_t)step : 1;
	}
	fputs("\xe2\x80\xa6", out);
}

static void print_row(const struct status_frame *frame, const struct status_row *row, const struct layout *layout, FILE *out)
{
	struct cell_at at = cell_at(frame, row);
	char cell[CELL_SIZE];

	for (size_t i = 0; i < LAST; i++) {
		if (layout->widths[i] == 0)
			continue;
		columns[i].say(&at, cell, sizeof(cell));
		if (i == 0 && frame->has_colour)
			fputs(colour_of(row->verdict.kind), out);
		fputs(cell, out);
		if (i == 0 && frame->has_colour)
			fputs("\033[0m", out);
		pad(out, layout->widths[i] - text_columns(cell) + GAP);
	}
	columns[LAST].say(&at, cell, sizeof(cell));
	if (layout->why_columns > 0)
		print_cut(cell, layout->why_columns, out);
	else
		fputs(cell, out);
	fputc('\n', out);
}

static size_t width_before_why(const struct layout *layout)
{
	size_t width = 0;

	for (size_t i = 0; i < LAST; i++)
		if (layout->widths[i] > 0)
			width += layout->widths[i] + GAP;
	return width;
}

static void measure(const struct status_frame *frame, const struct status_row *rows, int count, struct layout *ret)
{
	struct layout layout = { 0 };
	char cell[CELL_SIZE];

	for (size_t i = 0; i < LAST; i++)
		layout.widths[i] = frame->has_header ? strlen(columns[i].heading) : 1;
	for (int row = 0; row < count; row++) {
		struct cell_at at = cell_at(frame, &rows[row]);

		for (size_t i = 0; i < LAST; i++) {
			size_t width;

			columns[i].say(&at, cell, sizeof(cell));
			width = text_columns(cell);
			if (width > layout.widths[i])
				layout.widths[i] = width;
		}
	}
	if (frame->columns > 0) {
		size_t room = (size_t)frame->columns, used = width_before_why(&layout);

		for (int leaves = 1; leaves <= 3 && used + WHY_COLUMNS > room; leaves++) {
			for (size_t i = 0; i < LAST; i++)
				if (columns[i].leaves == leaves)
					layout.widths[i] = 0;
			used = width_before_why(&layout);
		}
		layout.why_columns = room > used + 12 ? room - used : 12;
	}
	*ret = layout;
}

void status_print_table(const struct status_frame *frame, struct status_row *rows, int count, FILE *out)
{
	struct layout layout;

	qsort_r(rows, (size_t)count, sizeof(*rows), compare_rows, observation_world(frame->observation));
	measure(frame, rows, count, &layout);
	for (size_t i = 0; i < LAST && frame->has_header; i++) {
		if (layout.widths[i] == 0)
			continue;
		fputs(columns[i].heading, out);
		pad(out, layout.widths[i] - strlen(columns[i].heading) + GAP);
	}
	if (frame->has_header)
		fprintf(out, "%s\n", columns[LAST].heading);
	for (int row = 0; row < count; row++)
		print_row(frame, &rows[row], &layout, out);
}
