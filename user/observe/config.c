/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../judge/duration.h"
#include "config.h"
#include "config_key.h"

#define FILE_MAX_BYTES (1024 * 1024)
#define SECTIONS_MAX 8192
#define RULES_MAX 4096		/* the judge keeps a rule's index in 16 bits */
#define SECTION_NAME_MAX 49	/* what inih keeps of a section's name; it cuts the rest silently */
#define BLANKS " \t"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* user/etc/listenreap.conf, put into the program by `ld -r -b binary`. */
extern const char _binary_listenreap_conf_start[];
extern const char _binary_listenreap_conf_end[];

struct config {
	struct arena arena;
	const char *origin;
	struct ruleset ruleset;
	struct config_values defaults;	/* what a key of a rule is when the rule does not have it */
};

/* What a key is when the file does not have it; user/etc/listenreap.conf says the same. */
static const struct config_values built_in_values = {
	.max_reaps = 32,
	.boot_ns = 60 * NS_PER_SEC,
	.rule = {
		.user = { .is_any = true },
		.stale_after_ns = { [SCOPE_LOOPBACK] = 300 * NS_PER_SEC, [SCOPE_EXPOSED] = 300 * NS_PER_SEC },
		.orphan = RULE_ORPHAN_YES,
		.in_use = RULE_SPARE,
		.operator = RULE_SPARE,
		.signal = SIGTERM,
		.grace_ns = 10 * NS_PER_SEC,
		.action = RULE_KILL,
	},
};

/* ---- sections */

/* Words that may begin a section: what stands in it without a name and with one; 0: not allowed so. */
static const struct section_type {
	const char *word;
	unsigned plain, named;		/* enum config_place */
	enum keeper keeper;		/* of a name list */
} section_types[] = {
	{ "listenreap", PLACE_LISTENREAP, 0, KEEPER_NONE },
	{ "defaults", PLACE_DEFAULTS, 0, KEEPER_NONE },
	{ "rule", 0, PLACE_RULE, KEEPER_NONE },
	{ "protect", PLACE_PROTECT, PLACE_PROTECTION, KEEPER_NONE },
	{ "agents", PLACE_LIST, PLACE_NAMED_LIST, KEEPER_AGENT },
	{ "people", PLACE_LIST, PLACE_NAMED_LIST, KEEPER_PERSON },
	{ "supervisors", PLACE_LIST, PLACE_NAMED_LIST, KEEPER_SUPERVISOR },
	{ "managers", PLACE_MANAGERS, PLACE_NAMED_LIST, KEEPER_MANAGER },
	{ "wrappers", PLACE_LIST, PLACE_NAMED_LIST, KEEPER_WRAPPER },
};

struct section {
	const struct section_type *type;
	unsigned place;
	const char *name;		/* "" none */
	int line;			/* of its first header */
	int key_line[KEY_MAX];		/* where each key was first given; 0 it was not */
	struct config_values values;
};

/* All sections of one text, in its order. */
struct document {
	struct section **sections;
	size_t count;
	size_t rule_count;
};

struct parser {
	struct config_source source;
	const char *rest;		/* of the text */
	size_t rest_length;
	struct document document;
	struct section *current;
	int err;			/* of the first complaint */
};

static bool has_key(const struct section *section, enum config_key_id id)
{
	return section->key_line[id] != 0;
}

/* Does it say which processes it means? */
static bool has_condition(const struct section *section)
{
	return has_key(section, KEY_PROGRAM) || has_key(section, KEY_SCRIPT) || has_key(section, KEY_ARGV) || has_key(section, KEY_WITH) ||
	       has_key(section, KEY_WITHOUT);
}

static struct section *document_find(const struct document *document, const struct section_type *type, const char *name)
{
	for (size_t i = 0; i < document->count; i++) {
		struct section *section = document->sections[i];

		if (section->type == type && strcmp(section->name, name) == 0)
			return section;
	}
	return NULL;
}

/* What a section must have can be said only when it is complete. */
static int section_finish(const struct config_source *source, const struct section *section)
{
	bool names_program = has_key(section, KEY_PROGRAM) || has_key(section, KEY_SCRIPT);
	bool names_process = names_program || has_key(section, KEY_ARGV);
	bool says_shipped_alone = has_key(section, KEY_SHIPPED) && !has_condition(section);

	if (section->place == PLACE_RULE && !names_process && !has_key(section, KEY_BORN_OF) && !has_key(section, KEY_ENV))
		return config_refuse_at(source, section->line, "[rule %s] would match anything; it needs program, script, argv, born-of or env",
					section->name);
	if (section->place == PLACE_PROTECTION && !names_process && !has_key(section, KEY_WITH) && !says_shipped_alone)
		return config_refuse_at(source, section->line, "[protect %s] would match anything; it needs program, script, argv or with",
					section->name);
	if (section->place == PLACE_NAMED_LIST && !names_program && !says_shipped_alone)
		return config_refuse_at(source, section->line, "[%s %s] would match anything; it needs program or script", section->type->word,
					section->name);
	return 0;
}

static const struct section_type *section_type_find(const char *word, size_t length)
{
	for (size_t i = 0; i < COUNT_OF(section_types); i++) {
		if (strlen(section_types[i].word) == length && memcmp(section_types[i].word, word, length) == 0)
			return &section_types[i];
	}
	return NULL;
}

static int refuse_section(const struct config_source *source, const char *word, size_t length)
{
	const char *words[COUNT_OF(section_types)];
	char *written = arena_copy(source->arena, word, length);

	if (!written)
		return config_no_memory(source);
	for (size_t i = 0; i < COUNT_OF(section_types); i++)
		words[i] = section_types[i].word;

	const char *nearest = config_nearest(written, words, COUNT_OF(words));
	if (nearest)
		return config_refuse(source, "unknown section [%s]; did you mean [%s%s]?", written, nearest,
				     section_type_find(nearest, strlen(nearest))->plain ? "" : " NAME");
	return config_refuse(source, "unknown section [%s]; write [listenreap], [defaults], [rule NAME], [protect NAME], [agents], [people], "
			     "[supervisors], [managers] or [wrappers]", written);
}

static int section_add(struct parser *parser, const struct section_type *type, const char *name)
{
	const struct config_source *source = &parser->source;
	struct document *document = &parser->document;
	struct section *section = document_find(document, type, name);

	if (section && *name)
		return config_refuse(source, "[%s %s] stands already in line %d; give this one another name", type->word, name, section->line);
	if (section) {
		parser->current = section;
		return 0;
	}

	bool is_rule = type->named == PLACE_RULE;
	if (document->count >= SECTIONS_MAX || (is_rule && document->rule_count >= RULES_MAX))
		return config_refuse(source, "more than %d %s", is_rule ? RULES_MAX : SECTIONS_MAX, is_rule ? "rules" : "sections");

	struct section **sections = arena_grow(source->arena, document->sections, document->count, sizeof(*document->sections));
	section = arena_alloc(source->arena, sizeof(*section));
	if (!sections || !section)
		return config_no_memory(source);
	section->type = type;
	section->place = *name ? type->named : type->plain;
	section->name = name;
	section->line = source->line;
	sections[document->count++] = section;
	document->sections = sections;
	document->rule_count += is_rule;
	parser->current = section;
	return 0;
}

/* text: between the brackets. */
static int section_begin(struct parser *parser, const char *text, size_t length)
{
	const struct config_source *source = &parser->source;
	int err;

	if (parser->current) {
		err = section_finish(source, parser->current);
		if (err)
			return err;
	}
	if (length > SECTION_NAME_MAX)
		return config_refuse(source, "the name of this section has %zu bytes; %d are possible", length, SECTION_NAME_MAX);

	const char *line = arena_copy(source->arena, text, length);
	if (!line)
		return config_no_memory(source);
	line += strspn(line, BLANKS);
	size_t word = strcspn(line, BLANKS);
	const char *name = line + word + strspn(line + word, BLANKS);
	size_t name_length = strlen(name);
	while (name_length > 0 && strchr(BLANKS, name[name_length - 1]))
		name_length--;
	name = arena_copy(source->arena, name, name_length);
	if (!name)
		return config_no_memory(source);

	const struct section_type *type = section_type_find(line, word);
	if (!type)
		return refuse_section(source, line, word);
	if (*name && !type->named)
		return config_refuse(source, "[%s] takes no name; write [%s] alone", type->word, type->word);
	if (!*name && !type->plain)
		return config_refuse(source, "[%s] needs a name: [%s NAME]", type->word, type->word);
	return section_add(parser, type, name);
}

/* ---- lines */

/* Where the comment behind a value begins: # or ; after white space, outside quotes. */
static size_t value_length(const char *value, size_t length)
{
	char quote = 0;

	for (size_t i = 0; i < length; i++) {
		if (quote) {
			if (value[i] == quote)
				quote = 0;
		} else if (value[i] == '\'' || value[i] == '"') {
			quote = value[i];
		} else if ((value[i] == '#' || value[i] == ';') && i > 0 && (value[i - 1] == ' ' || value[i - 1] == '\t')) {
			return i;
		}
	}
	return length;
}

static size_t trim_end(const char *text, size_t length)
{
	while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
		length--;
	return length;
}

/*
 * One line as inih is to see it: without white space around it and without a comment, so that nothing in it can mean another
 * thing to inih than it does here (continuation lines, `key: value`, a cut section name). *length becomes that of what is left.
 */
static int line_check(struct parser *parser, const char **line, size_t *length)
{
	const struct config_source *source = &parser->source;
	const char *text = *line;
	size_t count = *length;

	if (source->line == 1 && count >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		count -= 3;
	}
	if (count > 0 && text[count - 1] == '\r')
		count--;
	for (size_t i = 0; i < count; i++) {
		unsigned char byte = (unsigned char)text[i];

		if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
			return config_refuse(source, "byte 0x%02x in column %zu; this is a text file", byte, i + 1);
	}
	while (count > 0 && (*text == ' ' || *text == '\t')) {
		text++;
		count--;
	}
	count = trim_end(text, count);
	*line = text;
	*length = 0;
	if (count == 0 || *text == '#' || *text == ';')
		return 0;

	if (*text == '[') {
		const char *end = memchr(text, ']', count);
		size_t behind = end ? (size_t)(text + count - (end + 1)) : 0;

		if (!end)
			return config_refuse(source, "a section's ] is missing");
		*length = (size_t)(end + 1 - text);
		if (behind > 0 && trim_end(end, value_length(end, behind + 1)) != 1)
			return config_refuse(source, "something stands behind the section's ]");
		return section_begin(parser, text + 1, *length - 2);
	}

	const char *equals = memchr(text, '=', count);
	if (!equals)
		return config_refuse(source, "not a `key = value`; a line does not go on with the one before it, and only = stands behind a key");
	if (equals == text)
		return config_refuse(source, "no key stands before the =");
	if (memchr(text, ':', (size_t)(equals - text)))
		return config_refuse(source, "a : stands in the key; write `key = value`");

	size_t before = (size_t)(equals + 1 - text);
	*length = trim_end(text, before + value_length(text + before, count - before));
	if (text[*length - 1] == '\\')
		return config_refuse(source, "a line does not go on with the next; repeat the key instead (a backslash at the end is written \"\\\\\")");
	return 0;
}

/* ini_reader: the next line into buffer; NULL at the end or after a complaint. */
static char *read_line(char *buffer, int size, void *stream)
{
	struct parser *parser = stream;

	if (parser->err || parser->rest_length == 0)
		return NULL;

	const char *line = parser->rest, *end = memchr(line, '\n', parser->rest_length);
	size_t length = end ? (size_t)(end - line) : parser->rest_length;

	parser->rest_length -= end ? length + 1 : length;
	parser->rest += end ? length + 1 : length;
	parser->source.line++;
	parser->err = line_check(parser, &line, &length);
	/* An inih built without run-time options keeps its own, small limit. */
	if (!parser->err && length + 2 > (size_t)size)
		parser->err = config_refuse(&parser->source, "the line is longer than this libinih takes (%d bytes); repeat the key instead", size - 2);
	if (parser->err)
		return NULL;
	memcpy(buffer, line, length);
	buffer[length] = '\n';
	buffer[length + 1] = '\0';
	return buffer;
}

static int refuse_key(const struct parser *parser, const char *name)
{
	const struct config_source *source = &parser->source;
	const struct section *section = parser->current;
	const char *blank = *section->name ? " " : "";
	const char *names[KEY_MAX];

	for (size_t i = 0; i < KEY_MAX; i++) {
		bool is_here = config_keys[i].places & section->place;

		if (!is_here && strcmp(config_keys[i].name, name) == 0 && (config_keys[i].places & section->type->named) && !*section->name)
			return config_refuse(source, "%s stands only in a named section; write [%s NAME]", name, section->type->word);
		if (!is_here && strcmp(config_keys[i].name, name) == 0)
			return config_refuse(source, "%s does not belong into [%s%s%s]", name, section->type->word, blank, section->name);
		names[i] = is_here ? config_keys[i].name : NULL;
	}

	const char *nearest = config_nearest(name, names, KEY_MAX);
	if (nearest)
		return config_refuse(source, "unknown key \"%.60s\" in [%s%s%s]; did you mean %s?", name, section->type->word, blank, section->name,
				     nearest);

	char all[256] = "";
	size_t used = 0;
	for (size_t i = 0; i < KEY_MAX && used < sizeof(all); i++) {
		if (names[i])
			used += (size_t)snprintf(all + used, sizeof(all) - used, " %s", names[i]);
	}
	return config_refuse(source, "unknown key \"%.60s\" in [%s%s%s]; there are:%s", name, section->type->word, blank, section->name, all);
}

static int key_read(struct parser *parser, const char *name, const char *value)
{
	const struct config_source *source = &parser->source;
	struct section *section = parser->current;

	if (!section)
		return config_refuse(source, "\"%.60s\" stands before the first section; begin with [listenreap] or [rule NAME]", name);
	for (size_t i = 0; i < KEY_MAX; i++) {
		const struct config_key *key = &config_keys[i];

		if (strcmp(key->name, name) != 0 || !(key->places & section->place))
			continue;
		if (!*value)
			return config_refuse(source, "%s has no value", name);
		if (section->key_line[i] && !key->adds)
			return config_refuse(source, "%s was set already in line %d", name, section->key_line[i]);
		if (!section->key_line[i])
			section->key_line[i] = source->line;
		return key->read(source, key, value, &section->values);
	}
	return refuse_key(parser, name);
}

/* ini_handler. read_line() tells sections and lines better than inih can. */
static int handle_pair(void *user, const char *section, const char *name, const char *value)
{
	struct parser *parser = user;

	(void)section;
	if (!parser->err)
		parser->err = key_read(parser, name, value);
	return parser->err == 0;
}

static size_t longest_line(const char *text, size_t length)
{
	size_t longest = 0;

	while (length > 0) {
		const char *end = memchr(text, '\n', length);
		size_t line = end ? (size_t)(end - text) : length;

		if (line > longest)
			longest = line;
		line += end != NULL;
		text += line;
		length -= line;
	}
	return longest;
}

/* Debian's libinih takes its options at run time; an inih without them lacks these symbols. */
extern bool ini_use_stack __attribute__((weak));
extern int ini_max_line __attribute__((weak));
extern int ini_initial_alloc __attribute__((weak));
extern bool ini_allow_multiline __attribute__((weak));
extern bool ini_allow_inline_comments __attribute__((weak));
extern bool ini_stop_on_first_error __attribute__((weak));

static void inih_prepare(size_t longest)
{
	int room = (int)longest + 3;

	if (&ini_use_stack && &ini_max_line && &ini_initial_alloc) {
		ini_use_stack = false;
		ini_max_line = room;
		ini_initial_alloc = room;
	}
	if (&ini_allow_multiline)
		ini_allow_multiline = false;
	if (&ini_allow_inline_comments)
		ini_allow_inline_comments = false;
	if (&ini_stop_on_first_error)
		ini_stop_on_first_error = true;
}

static int document_read(const struct config_source *source, const char *text, size_t length, struct document *ret)
{
	struct parser parser = { .source = *source, .rest = text, .rest_length = length };

	if (length > FILE_MAX_BYTES)
		return failure_set(source->failure, -EFBIG, "%s:0: longer than %d bytes", source->name, FILE_MAX_BYTES);
	inih_prepare(longest_line(text, length));
	int line = ini_parse_stream(read_line, &parser, handle_pair, &parser);
	if (!parser.err && line == -2)
		parser.err = config_no_memory(&parser.source);
	if (!parser.err && line != 0)
		parser.err = config_refuse_at(&parser.source, line, "not a line of a config file");
	if (!parser.err && parser.current)
		parser.err = section_finish(&parser.source, parser.current);
	if (parser.err)
		return parser.err;
	*ret = parser.document;
	return 0;
}

/* ---- from sections to a ruleset */

static void overlay(struct config_values *values, const struct section *section)
{
	for (size_t i = 0; i < KEY_MAX; i++) {
		const struct config_key *key = &config_keys[i];

		if (section->key_line[i])
			memcpy((unsigned char *)values + key->offset, (const unsigned char *)&section->values + key->offset, key->size);
	}
	/* Who wants a rule's listeners to live for two hours does not mean the exposed ones to go sooner: python's bind 0.0.0.0. */
	if (has_key(section, KEY_STALE_AFTER) && !has_key(section, KEY_STALE_AFTER_EXPOSED))
		values->rule.stale_after_ns[SCOPE_EXPOSED] = section->values.rule.stale_after_ns[SCOPE_LOOPBACK];
}

static bool globs_equal(const struct globs *a, const struct globs *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	}
	return true;
}

static bool matchers_equal(const struct matcher *a, const struct matcher *b)
{
	if (!globs_equal(&a->program, &b->program) || !globs_equal(&a->script, &b->script) || !globs_equal(&a->with, &b->with) ||
	    !globs_equal(&a->without, &b->without) || a->argv_count != b->argv_count)
		return false;
	for (size_t i = 0; i < a->argv_count; i++) {
		struct globs a_tokens = { a->argv[i].tokens, a->argv[i].count }, b_tokens = { b->argv[i].tokens, b->argv[i].count };

		if (!globs_equal(&a_tokens, &b_tokens))
			return false;
	}
	return true;
}

struct matchers {
	struct matcher *items;
	size_t count;
};

static struct matcher *matchers_find(const struct matchers *matchers, const char *name)
{
	for (size_t i = 0; i < matchers->count; i++) {
		if (strcmp(matchers->items[i].name, name) == 0)
			return &matchers->items[i];
	}
	return NULL;
}

/* A plain section: all its globs are alternatives, so those of both files are one list. */
static int globs_merge(const struct config_source *source, struct globs *globs, const struct globs *more)
{
	for (size_t i = 0; i < more->count; i++) {
		bool is_there = false;

		for (size_t j = 0; j < globs->count && !is_there; j++)
			is_there = strcmp(globs->items[j], more->items[i]) == 0;
		if (is_there)
			continue;

		const char **items = arena_grow(source->arena, globs->items, globs->count, sizeof(*items));
		if (!items)
			return config_no_memory(source);
		items[globs->count++] = more->items[i];
		globs->items = items;
	}
	return 0;
}

/* Adds what names processes in the sections of one place or list. is_shipped: of the built-in file, under another one. */
static int matchers_add(const struct config_source *source, struct matchers *matchers, const struct document *document,
			const struct section_type *type, bool is_shipped)
{
	for (size_t i = 0; i < document->count; i++) {
		const struct section *section = document->sections[i];
		struct matcher matcher = section->values.rule.matcher;

		if (section->type != type || (matcher.program.count == 0 && matcher.script.count == 0 && matcher.argv_count == 0 &&
					      matcher.with.count == 0))
			continue;
		matcher.name = section->name;
		matcher.line = is_shipped ? 0 : section->line;

		struct matcher *same = matchers_find(matchers, matcher.name);
		if (same && !*matcher.name) {
			int err = globs_merge(source, &same->program, &matcher.program);

			if (err)
				return err;
			continue;
		}
		if (same && matchers_equal(same, &matcher))
			continue;
		while (same) {
			char *name = arena_alloc(source->arena, strlen(matcher.name) + sizeof(" (shipped)"));

			if (!name)
				return config_no_memory(source);
			strcat(strcpy(name, matcher.name), " (shipped)");
			matcher.name = name;
			same = matchers_find(matchers, name);
		}

		struct matcher *items = arena_grow(source->arena, matchers->items, matchers->count, sizeof(*items));
		if (!items)
			return config_no_memory(source);
		items[matchers->count++] = matcher;
		matchers->items = items;
	}
	return 0;
}

static bool drops_shipped(const struct document *document, const struct section_type *type)
{
	for (size_t i = 0; i < document->count; i++) {
		if (document->sections[i]->type == type && document->sections[i]->values.drops_shipped)
			return true;
	}
	return false;
}

/* shipped NULL: own is the built-in file itself. */
static int matchers_resolve(const struct config_source *source, const struct document *own, const struct document *shipped,
			    const struct section_type *type, struct matchers *ret)
{
	struct matchers matchers = { 0 };
	int err = matchers_add(source, &matchers, own, type, !shipped);

	if (!err && shipped && !drops_shipped(own, type))
		err = matchers_add(source, &matchers, shipped, type, true);
	if (!err)
		*ret = matchers;
	return err;
}

static int rules_resolve(const struct config_source *source, const struct document *own, bool is_shipped, const struct config_values *defaults,
			 struct ruleset *ruleset)
{
	struct rule *rules = arena_alloc(source->arena, own->rule_count * sizeof(*rules));
	size_t count = 0;

	if (!rules)
		return config_no_memory(source);
	for (size_t i = 0; i < own->count; i++) {
		const struct section *section = own->sections[i];
		struct config_values values = *defaults;

		if (section->place != PLACE_RULE)
			continue;
		overlay(&values, section);
		rules[count] = values.rule;
		rules[count].matcher.name = section->name;
		rules[count].matcher.line = is_shipped ? 0 : section->line;
		count++;
	}
	ruleset->rules = rules;
	ruleset->rule_count = count;
	return 0;
}

static int config_resolve(const struct config_source *source, struct config *config, const struct document *own, const struct document *shipped)
{
	struct ruleset *ruleset = &config->ruleset;
	struct config_values settings = built_in_values;
	struct config_values defaults = built_in_values;
	int err;

	for (size_t i = 0; shipped && i < shipped->count; i++) {
		if (shipped->sections[i]->place == PLACE_MANAGERS)
			overlay(&settings, shipped->sections[i]);
	}
	for (size_t i = 0; i < own->count; i++) {
		const struct section *section = own->sections[i];

		if (section->place == PLACE_DEFAULTS)
			overlay(&defaults, section);
		else if (section->place == PLACE_LISTENREAP || section->place == PLACE_MANAGERS)
			overlay(&settings, section);
	}
	config->defaults = defaults;
	ruleset->is_observe = settings.is_observe;
	ruleset->max_reaps = settings.max_reaps;
	ruleset->boot_ns = settings.boot_ns;

	err = rules_resolve(source, own, !shipped, &config->defaults, ruleset);
	for (size_t i = 0; i < COUNT_OF(section_types) && !err; i++) {
		const struct section_type *type = &section_types[i];
		struct matchers matchers = { 0 };

		if (type->keeper == KEEPER_NONE && type->named != PLACE_PROTECTION)
			continue;
		err = matchers_resolve(source, own, shipped, type, &matchers);
		if (type->keeper != KEEPER_NONE) {
			ruleset->lists[type->keeper] = (struct name_list){ matchers.items, matchers.count };
		} else {
			ruleset->protections = matchers.items;
			ruleset->protection_count = matchers.count;
		}
	}
	return err;
}

/* ---- the whole */

void config_free(struct config *config)
{
	if (!config)
		return;
	arena_free(&config->arena);
	free(config);
}

static void config_cleanup(struct config **config)
{
	config_free(*config);
}

/* text NULL: the built-in file alone. */
static int config_build(const char *name, const char *text, size_t length, struct config **ret, struct failure *ret_failure)
{
	const size_t shipped_length = (size_t)(_binary_listenreap_conf_end - _binary_listenreap_conf_start);
	struct document own = { 0 }, shipped = { 0 };
	__attribute__((cleanup(config_cleanup))) struct config *config = calloc(1, sizeof(*config));
	int err;

	if (!config)
		return failure_set(ret_failure, -ENOMEM, "%s:0: out of memory", name);

	struct config_source source = { .name = "built-in", .arena = &config->arena, .failure = ret_failure };
	err = document_read(&source, _binary_listenreap_conf_start, shipped_length, &shipped);
	source.name = name;
	if (!err && text)
		err = document_read(&source, text, length, &own);
	if (!err)
		err = text ? config_resolve(&source, config, &own, &shipped) : config_resolve(&source, config, &shipped, NULL);
	if (err)
		return err;

	config->origin = arena_copy(&config->arena, name, strlen(name));
	if (!config->origin)
		return config_no_memory(&source);
	*ret = config;
	config = NULL;
	return 0;
}

int config_parse(const char *name, const char *text, size_t length, struct config **ret, struct failure *ret_failure)
{
	return config_build(name, text ? text : "", length, ret, ret_failure);
}

static void close_cleanup(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static void free_cleanup(char **text)
{
	free(*text);
}

/* Who may write to the rules may kill: the same demand as on sudoers or a crontab. An ACL shows in the group's bits (acl(5)). */
static int file_check(const char *path, int fd, struct failure *ret_failure)
{
	struct stat status;

	if (fstat(fd, &status) != 0) {
		int err = -errno;

		return failure_set(ret_failure, err, "%s:0: cannot be looked at: %s", path, strerror(-err));
	}
	if (!S_ISREG(status.st_mode))
		return failure_set(ret_failure, -EINVAL, "%s:0: not a regular file", path);
	if (status.st_uid != 0 && status.st_uid != geteuid())
		return failure_set(ret_failure, -EPERM, "%s:0: owned by uid %u; it must belong to root (chown root)", path,
				   (unsigned)status.st_uid);
	if (status.st_mode & S_IWOTH)
		return failure_set(ret_failure, -EPERM, "%s:0: writable by everybody (mode %04o); only root may write to it (chmod go-w)", path,
				   (unsigned)(status.st_mode & 07777));
	if ((status.st_mode & S_IWGRP) && status.st_gid != 0)
		return failure_set(ret_failure, -EPERM, "%s:0: writable by group %u (mode %04o); only root may write to it (chmod g-w)", path,
				   (unsigned)status.st_gid, (unsigned)(status.st_mode & 07777));
	return 0;
}

static int file_read(const char *path, int fd, char **ret_text, size_t *ret_length, struct failure *ret_failure)
{
	__attribute__((cleanup(free_cleanup))) char *text = malloc(FILE_MAX_BYTES + 1);
	size_t length = 0;

	if (!text)
		return failure_set(ret_failure, -ENOMEM, "%s:0: out of memory", path);
	for (;;) {
		ssize_t count = read(fd, text + length, FILE_MAX_BYTES + 1 - length);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0) {
			int err = -errno;

			return failure_set(ret_failure, err, "%s:0: cannot be read: %s", path, strerror(-err));
		}
		if (count == 0)
			break;
		length += (size_t)count;
		if (length > FILE_MAX_BYTES)
			return failure_set(ret_failure, -EFBIG, "%s:0: longer than %d bytes", path, FILE_MAX_BYTES);
	}
	*ret_text = text;
	*ret_length = length;
	text = NULL;
	return 0;
}

int config_load(const char *path, struct config **ret, struct failure *ret_failure)
{
	const char *name = path ? path : CONFIG_DEFAULT;
	/* Not blocking: a FIFO put there must not hold us up before fstat can refuse it. */
	__attribute__((cleanup(close_cleanup))) int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	__attribute__((cleanup(free_cleanup))) char *text = NULL;
	size_t length = 0;
	int err;

	if (fd < 0 && errno == ENOENT && !path)
		return config_build("built-in", NULL, 0, ret, ret_failure);
	if (fd < 0) {
		err = -errno;
		return failure_set(ret_failure, err, "%s:0: cannot be opened: %s", name, strerror(-err));
	}
	err = file_check(name, fd, ret_failure);
	if (!err)
		err = file_read(name, fd, &text, &length, ret_failure);
	if (!err)
		err = config_parse(name, text, length, ret, ret_failure);
	return err;
}

const struct ruleset *config_ruleset(const struct config *config)
{
	return &config->ruleset;
}

const char *config_origin(const struct config *config)
{
	return config->origin;
}

/* ---- and back */

/* The keys of one place that are not as in `but`; NULL: all of them. */
static void write_keys(unsigned place, const struct config_values *values, const struct config_values *but, FILE *out)
{
	const struct config_key *exposed = &config_keys[KEY_STALE_AFTER_EXPOSED];
	bool wrote_stale_after = false;

	for (size_t i = 0; i < KEY_MAX; i++) {
		const struct config_key *key = &config_keys[i];
		const unsigned char *ours = (const unsigned char *)values + key->offset;

		if (!(key->places & place))
			continue;
		/* A stale-after alone would set both. */
		if (but && !(key == exposed && wrote_stale_after) && memcmp(ours, (const unsigned char *)but + key->offset, key->size) == 0)
			continue;
		key->write(key, values, out);
		if (i == KEY_STALE_AFTER)
			wrote_stale_after = true;
	}
}

static void write_matchers(const char *word, const struct matcher *items, size_t count, FILE *out)
{
	static const struct config_values nothing;

	for (size_t i = 0; i < count; i++) {
		struct config_values values = { .rule.matcher = items[i] };

		if (!*items[i].name)
			continue;	/* the plain section */
		fprintf(out, "\n[%s %s]\n", word, items[i].name);
		write_keys(PLACE_NAMED_LIST, &values, &nothing, out);
	}
}

void config_print(const struct config *config, FILE *out)
{
	const struct ruleset *ruleset = &config->ruleset;
	const struct config_values settings = {
		.is_observe = ruleset->is_observe,
		.max_reaps = ruleset->max_reaps,
		.boot_ns = ruleset->boot_ns,
		.drops_shipped = true,
	};

	fputs("[listenreap]\n", out);
	write_keys(PLACE_LISTENREAP, &settings, NULL, out);
	fputs("\n[defaults]\n", out);
	write_keys(PLACE_DEFAULTS, &config->defaults, NULL, out);
	for (size_t i = 0; i < ruleset->rule_count; i++) {
		struct config_values values = config->defaults;

		values.rule = ruleset->rules[i];
		fprintf(out, "\n[rule %s]\n", values.rule.matcher.name);
		write_keys(PLACE_RULE, &values, &config->defaults, out);
	}

	fputs("\n[protect]\nshipped = no\n", out);
	write_matchers("protect", ruleset->protections, ruleset->protection_count, out);
	for (size_t i = 0; i < COUNT_OF(section_types); i++) {
		const struct section_type *type = &section_types[i];
		const struct name_list *list = &ruleset->lists[type->keeper];
		struct config_values values = settings;

		if (type->keeper == KEEPER_NONE)
			continue;
		for (size_t j = 0; j < list->count; j++) {
			if (!*list->items[j].name)
				values.rule.matcher = list->items[j];
		}
		fprintf(out, "\n[%s]\n", type->word);
		write_keys(type->plain, &values, NULL, out);
		write_matchers(type->word, list->items, list->count, out);
	}
}
