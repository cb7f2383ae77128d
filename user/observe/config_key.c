/* SPDX-License-Identifier: GPL-2.0-only */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "../judge/duration.h"
#include "config_key.h"

#define BLANKS " \t"
#define PRINT_COLUMNS 100	/* where lists are broken into repeated keys */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

__attribute__((format(printf, 3, 0)))
static int refuse(const struct config_source *source, int line, const char *format, va_list args)
{
	char message[384];

	vsnprintf(message, sizeof(message), format, args);
	return failure_set(source->failure, -EINVAL, "%s:%d: %s", source->name, line, message);
}

int config_refuse(const struct config_source *source, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int err = refuse(source, source->line, format, args);
	va_end(args);
	return err;
}

int config_refuse_at(const struct config_source *source, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int err = refuse(source, line, format, args);
	va_end(args);
	return err;
}

int config_no_memory(const struct config_source *source)
{
	return failure_set(source->failure, -ENOMEM, "%s:%d: out of memory", source->name, source->line);
}

/* Levenshtein's distance; words longer than the row are simply far. */
static size_t distance(const char *a, const char *b)
{
	size_t row[32], length = strlen(b);

	if (length >= COUNT_OF(row) || strlen(a) >= COUNT_OF(row))
		return SIZE_MAX;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < length; j++) {
			size_t best = diagonal + (a[i] != b[j]);

			if (row[j + 1] + 1 < best)
				best = row[j + 1] + 1;
			if (row[j] + 1 < best)
				best = row[j] + 1;
			diagonal = row[j + 1];
			row[j + 1] = best;
		}
	}
	return row[length];
}

const char *config_nearest(const char *written, const char *const *names, size_t count)
{
	const char *nearest = NULL;
	size_t least = strlen(written) / 3 + 2;

	for (size_t i = 0; i < count; i++) {
		size_t far = names[i] ? distance(written, names[i]) : SIZE_MAX;

		if (far < least) {
			least = far;
			nearest = names[i];
		}
	}
	return nearest;
}

int config_read_word(const struct config_source *source, const char *key, const char *text, const char *const *names, size_t count,
		     size_t *ret)
{
	char all[160] = "";
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(text, names[i]) == 0) {
			*ret = i;
			return 0;
		}
		if (used < sizeof(all))
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
	}
	return config_refuse(source, "%s: \"%.60s\" is not known; write %s", key, text, all);
}

/* ---- lists: alternatives and tokens */

enum separator { SEPARATOR_BAR, SEPARATOR_BLANK };

struct item {
	const char *text;
	bool is_quoted;		/* at least a part of it */
};

/* 1: *ret is the next item and *cursor stands behind it; 0: no more; else a complaint was made. */
static int list_next(const struct config_source *source, const char *key, enum separator separator, const char **cursor, struct item *ret)
{
	const char *in = *cursor + strspn(*cursor, BLANKS);
	bool is_quoted = false;
	char quote = 0;

	if (!*in)
		return 0;

	char *text = arena_alloc(source->arena, strlen(in) + 1), *out = text;
	if (!text)
		return config_no_memory(source);

	for (; *in; in++) {
		if (quote) {
			if (*in == quote)
				quote = 0;
			else
				*out++ = *in;
			continue;
		}
		if (*in == '\'' || *in == '"') {
			quote = *in;
			is_quoted = true;
			continue;
		}
		if (separator == SEPARATOR_BAR && *in == '|')
			break;
		if (is_blank(*in)) {
			const char *rest = in + strspn(in, BLANKS);

			if (separator == SEPARATOR_BAR && *rest && *rest != '|')
				return config_refuse(source, "%s: white space inside \"%.60s\"; separate alternatives by |, or put quotes around it",
						     key, *cursor + strspn(*cursor, BLANKS));
			in = rest;
			break;
		}
		*out++ = *in;
	}

	if (quote)
		return config_refuse(source, "%s: a %c is not closed; %s", key, quote,
				     quote == '"' ? "a \" itself is written '\"'" : "a ' itself is written \"'\"");
	if (separator == SEPARATOR_BAR && *in == '|') {
		in++;
		if (!in[strspn(in, BLANKS)])
			return config_refuse(source, "%s: nothing stands behind the last |", key);
	}
	if (out == text && !is_quoted)
		return config_refuse(source, "%s: an alternative is empty", key);
	if (separator == SEPARATOR_BLANK && !is_quoted && strcmp(text, "|") == 0)
		return config_refuse(source, "%s: tokens have no |; an alternative is another %s line, and a | to be matched is written \"|\"",
				     key, key);

	size_t backslashes = 0;
	while (out - backslashes > text && out[-1 - (ptrdiff_t)backslashes] == '\\')
		backslashes++;
	if (backslashes % 2 != 0)
		return config_refuse(source, "%s: \"%.60s\" ends in a backslash and can never match; a backslash is written \\\\", key, text);

	*cursor = in;
	*ret = (struct item){ .text = text, .is_quoted = is_quoted };
	return 1;
}

/* Adds *element to the array *items of *count. */
static int list_add(const struct config_source *source, const void *items, size_t *count, size_t size, const void *element, void *ret_items)
{
	unsigned char *larger = arena_grow(source->arena, items, *count, size);

	if (!larger)
		return config_no_memory(source);
	memcpy(larger + *count * size, element, size);
	(*count)++;
	memcpy(ret_items, &larger, sizeof(larger));
	return 0;
}

static int globs_add(const struct config_source *source, struct globs *globs, const char *text)
{
	return list_add(source, globs->items, &globs->count, sizeof(*globs->items), &text, &globs->items);
}

/* A token that reads back as itself. */
static void write_token(const char *text, FILE *out)
{
	size_t length = strlen(text);

	if (length > 0 && text[0] != '#' && text[0] != ';' && text[length - 1] != '\\' && !strpbrk(text, BLANKS "|'\"")) {
		fputs(text, out);
		return;
	}
	if (!strchr(text, '"')) {
		fprintf(out, "\"%s\"", text);
		return;
	}
	while (*text) {
		char quote = *text == '"' ? '\'' : '"';
		size_t run = quote == '"' ? strcspn(text, "\"") : strspn(text, "\"");

		fprintf(out, "%c%.*s%c", quote, (int)run, text, quote);
		text += run;
	}
}

/* Begins or goes on with `NAME = a SEP b`, on a new line when the old one is full. *column: 0 at the start of the list. */
static void write_separator(const struct config_key *key, const char *separator, size_t length, size_t *column, FILE *out)
{
	if (*column > 0 && *column + strlen(separator) + length <= PRINT_COLUMNS) {
		fputs(separator, out);
		*column += strlen(separator) + length;
		return;
	}
	fprintf(out, "%s%s = ", *column > 0 ? "\n" : "", key->name);
	*column = strlen(key->name) + 3 + length;
}

static void write_globs(const struct config_key *key, const struct globs *globs, const char *separator, FILE *out)
{
	size_t column = 0;

	for (size_t i = 0; i < globs->count; i++) {
		write_separator(key, separator, strlen(globs->items[i]), &column, out);
		write_token(globs->items[i], out);
	}
	if (column > 0)
		fputc('\n', out);
}

/* ---- what names a process */

static struct globs *globs_of(const struct config_key *key, struct config_values *values)
{
	return (struct globs *)(void *)((unsigned char *)values + key->offset);
}

static int read_globs(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	bool is_path = key == &config_keys[KEY_CGROUP];
	struct item item;
	int more;

	while ((more = list_next(source, key->name, SEPARATOR_BAR, &text, &item)) > 0) {
		if (!*item.text)
			return config_refuse(source, "%s: an alternative is empty", key->name);
		if (item.text[0] == '/' && !is_path)
			return config_refuse(source, "%s: \"%.60s\" is a path, but only the basename is compared; write \"%.60s\"", key->name,
					     item.text, strrchr(item.text, '/') + 1);
		int err = globs_add(source, globs_of(key, values), item.text);
		if (err)
			return err;
	}
	return more;
}

static void write_alternatives(const struct config_key *key, const struct config_values *values, FILE *out)
{
	write_globs(key, globs_of(key, (struct config_values *)(uintptr_t)values), " | ", out);
}

static int read_tokens(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	struct item item;
	int more;

	while ((more = list_next(source, key->name, SEPARATOR_BLANK, &text, &item)) > 0) {
		int err = globs_add(source, globs_of(key, values), item.text);
		if (err)
			return err;
	}
	return more;
}

static void write_tokens(const struct config_key *key, const struct config_values *values, FILE *out)
{
	write_globs(key, globs_of(key, (struct config_values *)(uintptr_t)values), " ", out);
}

static int read_argv(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	struct matcher *matcher = &values->rule.matcher;
	struct globs tokens = { 0 };
	struct item item;
	int more;

	while ((more = list_next(source, key->name, SEPARATOR_BLANK, &text, &item)) > 0) {
		bool is_literal_dots = item.is_quoted && strcmp(item.text, "...") == 0;
		int err = globs_add(source, &tokens, is_literal_dots ? "[.].." : item.text);

		if (err)
			return err;
	}
	if (more)
		return more;

	struct argv_pattern pattern = { .tokens = tokens.items, .count = tokens.count };
	return list_add(source, matcher->argv, &matcher->argv_count, sizeof(pattern), &pattern, &matcher->argv);
}

static void write_argv(const struct config_key *key, const struct config_values *values, FILE *out)
{
	const struct matcher *matcher = &values->rule.matcher;

	for (size_t i = 0; i < matcher->argv_count; i++) {
		fprintf(out, "%s =", key->name);
		for (size_t j = 0; j < matcher->argv[i].count; j++) {
			fputc(' ', out);
			write_token(matcher->argv[i].tokens[j], out);
		}
		fputc('\n', out);
	}
}

/* ---- sets of words */

static int read_word_set(const struct config_source *source, const struct config_key *key, const char *text, const char *const *names,
			 size_t count, unsigned *set)
{
	struct item item;
	int more;

	while ((more = list_next(source, key->name, SEPARATOR_BAR, &text, &item)) > 0) {
		size_t index = 0;
		int err = config_read_word(source, key->name, item.text, names, count, &index);

		if (err)
			return err;
		*set |= 1u << index;
	}
	return more;
}

static void write_word_set(const struct config_key *key, const char *const *names, size_t count, unsigned set, FILE *out)
{
	size_t column = 0;

	for (size_t i = 0; i < count; i++) {
		if (!(set & 1u << i))
			continue;
		write_separator(key, " | ", strlen(names[i]), &column, out);
		fputs(names[i], out);
	}
	if (column > 0)
		fputc('\n', out);
}

/* An anchor is never a wrapper or a script: the walk skips them. */
#define ANCHOR_KINDS (KEEPER_MANAGER + 1)
static_assert(KEEPER_NONE == 0 && KEEPER_WRAPPER == KEEPER_MANAGER + 1, "anchor kinds are the first of enum keeper");

static int read_anchor(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	return read_word_set(source, key, text, keeper_names, ANCHOR_KINDS, &values->rule.anchor_kinds);
}

static void write_anchor(const struct config_key *key, const struct config_values *values, FILE *out)
{
	write_word_set(key, keeper_names, ANCHOR_KINDS, values->rule.anchor_kinds, out);
}

static int read_scope(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	return read_word_set(source, key, text, scope_names, SCOPE_MAX, &values->rule.scopes);
}

static void write_scope(const struct config_key *key, const struct config_values *values, FILE *out)
{
	write_word_set(key, scope_names, SCOPE_MAX, values->rule.scopes, out);
}

/* ---- numbers, users, ports, environment */

/* A decimal number without sign, blanks or anything behind it; false: not one, or above max. */
static bool read_number(const char *text, uint64_t max, uint64_t *ret)
{
	uint64_t number = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || number > UINT64_MAX / 10 - 1)
			return false;
		number = number * 10 + (uint64_t)(*text - '0');
	}
	if (number > max)
		return false;
	*ret = number;
	return true;
}

static int read_max_reaps(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	uint64_t number;

	if (!read_number(text, 1000000, &number))
		return config_refuse(source, "%s: \"%.60s\" is not a number from 0 to 1000000", key->name, text);
	values->max_reaps = (uint32_t)number;
	return 0;
}

static void write_max_reaps(const struct config_key *key, const struct config_values *values, FILE *out)
{
	fprintf(out, "%s = %" PRIu32 "\n", key->name, values->max_reaps);
}

/* (uid_t)-1 is nobody: chown(2) and setresuid(2) take it for "unchanged". */
static int read_uid(const struct config_source *source, const char *key, const char *text, uint32_t *ret)
{
	uint64_t number;

	if (read_number(text, UINT32_MAX - 1, &number)) {
		*ret = (uint32_t)number;
		return 0;
	}

	errno = 0;
	const struct passwd *entry = getpwnam(text);
	if (!entry && errno != 0 && errno != ENOENT && errno != ESRCH)
		return config_refuse(source, "%s: cannot look up \"%.60s\": %s; write its uid", key, text, strerror(errno));
	if (!entry)
		return config_refuse(source, "%s: there is no user \"%.60s\"; write a user's name, a uid, or *", key, text);
	*ret = entry->pw_uid;
	return 0;
}

static int read_user(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	struct uid_set *user = &values->rule.user;
	struct item item;
	int more;

	while ((more = list_next(source, key->name, SEPARATOR_BAR, &text, &item)) > 0) {
		uint32_t uid = 0;
		int err;

		if (strcmp(item.text, "*") == 0) {
			user->is_any = true;
			continue;
		}
		err = read_uid(source, key->name, item.text, &uid);
		if (!err)
			err = list_add(source, user->uids, &user->count, sizeof(uid), &uid, &user->uids);
		if (err)
			return err;
	}
	return more;
}

static void write_user(const struct config_key *key, const struct config_values *values, FILE *out)
{
	const struct uid_set *user = &values->rule.user;
	size_t column = 0;

	if (user->is_any) {
		fprintf(out, "%s = *\n", key->name);
		return;
	}
	for (size_t i = 0; i < user->count; i++) {
		write_separator(key, " | ", 10, &column, out);
		fprintf(out, "%" PRIu32, user->uids[i]);
	}
	if (column > 0)
		fputc('\n', out);
}

static bool read_port_range(char *text, struct port_range *ret)
{
	char *dash = strchr(text, '-');
	uint64_t first, last;

	if (dash)
		*dash = '\0';
	bool is_good = read_number(text, UINT16_MAX, &first) && (!dash || read_number(dash + 1, UINT16_MAX, &last));
	if (dash)
		*dash = '-';
	if (!is_good)
		return false;
	if (!dash)
		last = first;
	if (first == 0 || last < first)
		return false;
	*ret = (struct port_range){ .first = (uint16_t)first, .last = (uint16_t)last };
	return true;
}

static int read_port(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	struct rule *rule = &values->rule;
	struct item item;
	int more;

	while ((more = list_next(source, key->name, SEPARATOR_BAR, &text, &item)) > 0) {
		struct port_range range;
		char *copy = arena_copy(source->arena, item.text, strlen(item.text));

		if (!copy)
			return config_no_memory(source);
		if (!read_port_range(copy, &range))
			return config_refuse(source, "%s: \"%.60s\" is not a port; write 8000 or 8000-8999, 1 to 65535", key->name, copy);
		int err = list_add(source, rule->ports, &rule->port_count, sizeof(range), &range, &rule->ports);
		if (err)
			return err;
	}
	return more;
}

static void write_port(const struct config_key *key, const struct config_values *values, FILE *out)
{
	const struct rule *rule = &values->rule;
	size_t column = 0;

	for (size_t i = 0; i < rule->port_count; i++) {
		const struct port_range *range = &rule->ports[i];

		write_separator(key, " | ", 11, &column, out);
		fprintf(out, "%u", (unsigned)range->first);
		if (range->last != range->first)
			fprintf(out, "-%u", (unsigned)range->last);
	}
	if (column > 0)
		fputc('\n', out);
}

static int read_env(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	struct rule *rule = &values->rule;
	struct item item;
	int more;

	while ((more = list_next(source, key->name, SEPARATOR_BAR, &text, &item)) > 0) {
		size_t length = strcspn(item.text, "=");
		struct env_condition condition = {
			.name = arena_copy(source->arena, item.text, length),
			.glob = item.text[length] ? item.text + length + 1 : NULL,
		};

		if (!condition.name)
			return config_no_memory(source);
		if (length == 0)
			return config_refuse(source, "%s: \"%.60s\" names no variable; write NAME or NAME=GLOB", key->name, item.text);
		int err = list_add(source, rule->env, &rule->env_count, sizeof(condition), &condition, &rule->env);
		if (err)
			return err;
	}
	return more;
}

static void write_env(const struct config_key *key, const struct config_values *values, FILE *out)
{
	const struct rule *rule = &values->rule;
	size_t column = 0;

	for (size_t i = 0; i < rule->env_count; i++) {
		const struct env_condition *condition = &rule->env[i];

		write_separator(key, " | ", strlen(condition->name) + (condition->glob ? strlen(condition->glob) + 1 : 0), &column, out);
		write_token(condition->name, out);
		if (condition->glob) {
			fputc('=', out);
			if (*condition->glob)
				write_token(condition->glob, out);
		}
	}
	if (column > 0)
		fputc('\n', out);
}

/* ---- choices */

static const char *const mode_names[] = { "enforce", "observe" };
static const char *const answer_names[] = { "no", "yes" };
static const char *const namespace_names[] = { "host", "any" };

static int read_mode(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	size_t index = 0;
	int err = config_read_word(source, key->name, text, mode_names, COUNT_OF(mode_names), &index);

	if (!err)
		values->is_observe = index == 1;
	return err;
}

static void write_mode(const struct config_key *key, const struct config_values *values, FILE *out)
{
	fprintf(out, "%s = %s\n", key->name, mode_names[values->is_observe]);
}

static int read_shipped(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	size_t index = 0;
	int err = config_read_word(source, key->name, text, answer_names, COUNT_OF(answer_names), &index);

	if (!err)
		values->drops_shipped = index == 0;
	return err;
}

static void write_shipped(const struct config_key *key, const struct config_values *values, FILE *out)
{
	fprintf(out, "%s = %s\n", key->name, answer_names[!values->drops_shipped]);
}

static bool *namespace_of(const struct config_key *key, struct config_values *values)
{
	return key == &config_keys[KEY_NETNS] ? &values->rule.any_netns : &values->rule.any_pidns;
}

static int read_namespace(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	size_t index = 0;
	int err = config_read_word(source, key->name, text, namespace_names, COUNT_OF(namespace_names), &index);

	if (!err)
		*namespace_of(key, values) = index == 1;
	return err;
}

static void write_namespace(const struct config_key *key, const struct config_values *values, FILE *out)
{
	fprintf(out, "%s = %s\n", key->name, namespace_names[*namespace_of(key, (struct config_values *)(uintptr_t)values)]);
}

static int read_orphan(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	size_t index = 0;
	int err = config_read_word(source, key->name, text, rule_orphan_names, RULE_ORPHAN_MAX, &index);

	if (!err)
		values->rule.orphan = (enum rule_orphan)index;
	return err;
}

static void write_orphan(const struct config_key *key, const struct config_values *values, FILE *out)
{
	fprintf(out, "%s = %s\n", key->name, rule_orphan_names[values->rule.orphan]);
}

static enum rule_choice *choice_of(const struct config_key *key, struct config_values *values)
{
	return key == &config_keys[KEY_IN_USE] ? &values->rule.in_use : &values->rule.operator;
}

static int read_choice(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	size_t index = 0;
	int err = config_read_word(source, key->name, text, rule_choice_names, RULE_CHOICE_MAX, &index);

	if (!err)
		*choice_of(key, values) = (enum rule_choice)index;
	return err;
}

static void write_choice(const struct config_key *key, const struct config_values *values, FILE *out)
{
	fprintf(out, "%s = %s\n", key->name, rule_choice_names[*choice_of(key, (struct config_values *)(uintptr_t)values)]);
}

static int read_action(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	size_t index = 0;
	int err = config_read_word(source, key->name, text, rule_action_names, RULE_ACTION_MAX, &index);

	if (!err)
		values->rule.action = (enum rule_action)index;
	return err;
}

static void write_action(const struct config_key *key, const struct config_values *values, FILE *out)
{
	fprintf(out, "%s = %s\n", key->name, rule_action_names[values->rule.action]);
}

static const struct {
	const char *name;
	int number;
} signals[] = {
	{ "TERM", SIGTERM }, { "INT", SIGINT }, { "HUP", SIGHUP }, { "QUIT", SIGQUIT }, { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 },
	{ "KILL", SIGKILL },
};

/* signal(7): these are ignored, stop or go on unless the program says otherwise; none asks it to end. */
static bool signal_asks_to_end(uint64_t number)
{
	switch (number) {
	case 0: case SIGCHLD: case SIGCONT: case SIGSTOP: case SIGTSTP: case SIGTTIN: case SIGTTOU: case SIGURG: case SIGWINCH:
		return false;
	default:
		return true;
	}
}

static int read_signal(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
	uint64_t number;

	for (size_t i = 0; i < COUNT_OF(signals); i++) {
		if (strcmp(name, signals[i].name) == 0) {
			values->rule.signal = signals[i].number;
			return 0;
		}
	}
	if (!read_number(text, 64, &number) || !signal_asks_to_end(number))
		return config_refuse(source, "%s: \"%.60s\" is not a signal that ends a process; write TERM, INT, HUP, QUIT, USR1, USR2, KILL "
				     "or a number", key->name, text);
	values->rule.signal = (int)number;
	return 0;
}

static void write_signal(const struct config_key *key, const struct config_values *values, FILE *out)
{
	for (size_t i = 0; i < COUNT_OF(signals); i++) {
		if (signals[i].number == values->rule.signal) {
			fprintf(out, "%s = %s\n", key->name, signals[i].name);
			return;
		}
	}
	fprintf(out, "%s = %d\n", key->name, values->rule.signal);
}

/* ---- durations */

static uint64_t *duration_of(const struct config_key *key, struct config_values *values)
{
	return (uint64_t *)(void *)((unsigned char *)values + key->offset);
}

static int read_duration(const struct config_source *source, const struct config_key *key, const char *text, struct config_values *values)
{
	int err = duration_parse(text, duration_of(key, values));

	if (err == -ERANGE)
		return config_refuse(source, "%s: \"%.60s\" is longer than 36500d", key->name, text);
	if (err)
		return config_refuse(source, "%s: \"%.60s\" is not a duration; write it like 90s, 5m, 2h, 1d or 0", key->name, text);
	return 0;
}

static void write_duration(const struct config_key *key, const struct config_values *values, FILE *out)
{
	static const struct {
		char letter;
		unsigned seconds;
	} units[] = { { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
	uint64_t seconds = *duration_of(key, (struct config_values *)(uintptr_t)values) / NS_PER_SEC;
	size_t i = 0;

	if (seconds == 0) {
		fprintf(out, "%s = 0\n", key->name);
		return;
	}
	while (seconds % units[i].seconds != 0)
		i++;
	fprintf(out, "%s = %" PRIu64 "%c\n", key->name, seconds / units[i].seconds, units[i].letter);
}

/* ---- the table */

#define FROM_TO(first, last) \
	.offset = offsetof(struct config_values, first), \
	.size = offsetof(struct config_values, last) + sizeof(((struct config_values *)0)->last) - offsetof(struct config_values, first)
#define ONE(field) FROM_TO(field, field)

#define RULES (PLACE_DEFAULTS | PLACE_RULE)
#define NAMED (PLACE_PROTECTION | PLACE_NAMED_LIST)
#define LISTS (PLACE_LIST | PLACE_MANAGERS)

const struct config_key config_keys[KEY_MAX] = {
	[KEY_MODE] = { "mode", PLACE_LISTENREAP, false, ONE(is_observe), read_mode, write_mode },
	[KEY_MAX_REAPS] = { "max-reaps", PLACE_LISTENREAP, false, ONE(max_reaps), read_max_reaps, write_max_reaps },
	[KEY_BOOT] = { "boot", PLACE_MANAGERS, false, ONE(boot_ns), read_duration, write_duration },
	[KEY_SHIPPED] = { "shipped", LISTS | NAMED | PLACE_PROTECT, false, ONE(drops_shipped), read_shipped, write_shipped },
	[KEY_PROGRAM] = { "program", RULES | NAMED | LISTS, true, ONE(rule.matcher.program), read_globs, write_alternatives },
	[KEY_SCRIPT] = { "script", RULES | NAMED, true, ONE(rule.matcher.script), read_globs, write_alternatives },
	[KEY_ARGV] = { "argv", RULES | NAMED, true, FROM_TO(rule.matcher.argv, rule.matcher.argv_count), read_argv, write_argv },
	[KEY_WITH] = { "with", RULES | NAMED, true, ONE(rule.matcher.with), read_tokens, write_tokens },
	[KEY_WITHOUT] = { "without", RULES | NAMED, true, ONE(rule.matcher.without), read_tokens, write_tokens },
	[KEY_BORN_OF] = { "born-of", RULES, true, ONE(rule.born_of), read_globs, write_alternatives },
	[KEY_ANCHOR] = { "anchor", RULES, true, ONE(rule.anchor_kinds), read_anchor, write_anchor },
	[KEY_USER] = { "user", RULES, true, ONE(rule.user), read_user, write_user },
	[KEY_CGROUP] = { "cgroup", RULES, true, ONE(rule.cgroup), read_globs, write_alternatives },
	[KEY_PORT] = { "port", RULES, true, FROM_TO(rule.ports, rule.port_count), read_port, write_port },
	[KEY_SCOPE] = { "scope", RULES, true, ONE(rule.scopes), read_scope, write_scope },
	[KEY_NETNS] = { "netns", RULES, false, ONE(rule.any_netns), read_namespace, write_namespace },
	[KEY_PIDNS] = { "pidns", RULES, false, ONE(rule.any_pidns), read_namespace, write_namespace },
	[KEY_ENV] = { "env", RULES, true, FROM_TO(rule.env, rule.env_count), read_env, write_env },
	[KEY_STALE_AFTER] = { "stale-after", RULES, false, ONE(rule.stale_after_ns[SCOPE_LOOPBACK]), read_duration, write_duration },
	[KEY_STALE_AFTER_EXPOSED] = { "stale-after-exposed", RULES, false, ONE(rule.stale_after_ns[SCOPE_EXPOSED]), read_duration,
				      write_duration },
	[KEY_ORPHAN] = { "orphan", RULES, false, ONE(rule.orphan), read_orphan, write_orphan },
	[KEY_IN_USE] = { "in-use", RULES, false, ONE(rule.in_use), read_choice, write_choice },
	[KEY_OPERATOR] = { "operator", RULES, false, ONE(rule.operator), read_choice, write_choice },
	[KEY_SIGNAL] = { "signal", RULES, false, ONE(rule.signal), read_signal, write_signal },
	[KEY_GRACE] = { "grace", RULES, false, ONE(rule.grace_ns), read_duration, write_duration },
	[KEY_ACTION] = { "action", RULES, false, ONE(rule.action), read_action, write_action },
};
