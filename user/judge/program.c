/* SPDX-License-Identifier: GPL-2.0-only */
#include <fnmatch.h>
#include <string.h>
#include "program.h"

/* An interpreter by the basename of its executable, and its options as its manual gives them. */
struct grammar {
	enum interpreter interpreter;
	const char *const names[14];		/* globs */
	const char *short_with_word;		/* letters whose word follows (joined, or as the next token) */
	const char *const long_with_word[24];	/* without a `=`, the next token is theirs */
	const char *inline_letters;		/* code in the next token, no script follows: -c, -e */
	const char *const inline_longs[8];
	const char *const subcommands[4];	/* skipped once in front of the script: `deno run`, `bun run` */
	bool has_module;			/* python's -m ends the options as a script does */
	const char *stays;			/* letters that are no option to skip: the rule sees them (php's -S) */
};

static const struct grammar grammars[] = {
	{
		.interpreter = INTERPRETER_PYTHON, .names = { "python", "python[0-9]*", "pypy", "pypy[0-9]*" },
		.short_with_word = "WXQ", .long_with_word = { "--check-hash-based-pycs" }, .inline_letters = "c", .has_module = true,
	},
	{
		.interpreter = INTERPRETER_NODE, .names = { "node", "nodejs", "node[0-9]*" }, .short_with_word = "rC",
		.long_with_word = {
			"--require", "--import", "--loader", "--experimental-loader", "--conditions", "--env-file", "--title", "--icu-data-dir",
			"--openssl-config", "--diagnostic-dir", "--redirect-warnings", "--input-type", "--watch-path", "--cpu-prof-dir", "--stack-trace-limit",
			"--experimental-default-type", "--inspect-port", "--max-http-header-size", "--dns-result-order", "--trace-event-categories",
		},
		.inline_letters = "ep", .inline_longs = { "--eval", "--print", "-pe", "--run", "--interactive", "--test" },
	},
	{
		.interpreter = INTERPRETER_DENO, .names = { "deno" }, .short_with_word = "cL",
		.long_with_word = { "--config", "--import-map", "--lock", "--location", "--cert", "--seed", "--log-level" },
		.inline_longs = { "eval", "task", "repl" }, .subcommands = { "run", "serve" },
	},
	{
		.interpreter = INTERPRETER_BUN, .names = { "bun", "bunx" }, .short_with_word = "rclde",
		.long_with_word = { "--preload", "--config", "--cwd", "--env-file", "--define", "--loader", "--port", "--filter", "--tsconfig-override" },
		.inline_letters = "ep", .inline_longs = { "--eval", "--print" }, .subcommands = { "run", "x" },
	},
	{
		.interpreter = INTERPRETER_PHP, .names = { "php", "php[0-9]*" }, .short_with_word = "cdz",
		.long_with_word = { "--php-ini", "--define", "--zend-extension" }, .inline_letters = "rBRE",
		.inline_longs = { "--run" }, .stays = "StfF",
	},
	{
		.interpreter = INTERPRETER_RUBY, .names = { "ruby", "ruby[0-9]*" }, .short_with_word = "ICEr",
		.long_with_word = { "--encoding", "--external-encoding", "--internal-encoding" }, .inline_letters = "e",
	},
	{ .interpreter = INTERPRETER_PERL, .names = { "perl", "perl[0-9]*" }, .short_with_word = "I", .inline_letters = "eE" },
	{
		.interpreter = INTERPRETER_JAVA, .names = { "java" },
		.long_with_word = {
			"-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path", "--add-modules", "--add-exports",
			"--add-opens", "--add-reads", "--limit-modules", "--patch-module", "--source", "--describe-module",
		},
	},
	{
		.interpreter = INTERPRETER_SHELL,
		.names = { "sh", "bash", "rbash", "dash", "zsh", "zsh[0-9]*", "ksh*", "mksh", "ash", "fish", "busybox", "yash" },
		.short_with_word = "oO", .long_with_word = { "--rcfile", "--init-file", "--init-command" }, .inline_letters = "c",
		.inline_longs = { "--command" },
	},
};

static const char *basename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static struct span span_of(const char *text)
{
	return (struct span){ text, text ? strlen(text) : 0 };
}

bool span_equals(struct span span, const char *text)
{
	return span.length > 0 && strlen(text) == span.length && memcmp(span.start, text, span.length) == 0;
}

bool span_matches(struct span span, const char *glob)
{
	char text[4097];

	if (span.length == 0 || span.length >= sizeof(text))
		return false;
	memcpy(text, span.start, span.length);
	text[span.length] = '\0';
	return fnmatch(glob, text, 0) == 0;
}

static bool is_among(const char *token, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count && words[i]; i++)
		if (strcmp(token, words[i]) == 0)
			return true;
	return false;
}
#define AMONG(token, words) is_among(token, words, sizeof(words) / sizeof((words)[0]))

static const struct grammar *grammar_of(struct span name)
{
	for (size_t i = 0; i < sizeof(grammars) / sizeof(grammars[0]); i++)
		for (size_t j = 0; j < sizeof(grammars[i].names) / sizeof(grammars[i].names[0]) && grammars[i].names[j]; j++)
			if (span_matches(name, grammars[i].names[j]))
				return &grammars[i];
	return NULL;
}

static const struct grammar *grammar_for(enum interpreter interpreter)
{
	for (size_t i = 0; i < sizeof(grammars) / sizeof(grammars[0]); i++)
		if (grammars[i].interpreter == interpreter)
			return &grammars[i];
	return NULL;
}

enum kind { OPTION_PLAIN, OPTION_WITH_WORD, OPTION_INLINE, OPTION_MODULE, OPTION_END, OPTION_STAYS, NOT_AN_OPTION };

/* "-um" and "-Bc": letters may be joined; the one that takes a word takes the rest of the token, or the next token. */
static enum kind classify_letters(const struct grammar *grammar, const char *token, const char **ret_joined)
{
	for (const char *letter = token + 1; *letter; letter++) {
		if (grammar->stays && strchr(grammar->stays, *letter))
			return OPTION_STAYS;
		if (grammar->inline_letters && strchr(grammar->inline_letters, *letter))
			return OPTION_INLINE;
		if (grammar->has_module && *letter == 'm') {
			*ret_joined = letter[1] ? letter + 1 : NULL;
			return OPTION_MODULE;
		}
		if (grammar->short_with_word && strchr(grammar->short_with_word, *letter))
			return letter[1] && grammar->interpreter != INTERPRETER_SHELL ? OPTION_PLAIN : OPTION_WITH_WORD;
	}
	return OPTION_PLAIN;
}

static enum kind classify(const struct grammar *grammar, const char *token, const char **ret_joined)
{
	bool is_plus = grammar->interpreter == INTERPRETER_SHELL && token[0] == '+';

	*ret_joined = NULL;
	if (AMONG(token, grammar->inline_longs))
		return OPTION_INLINE;
	if ((token[0] != '-' && !is_plus) || !token[1])
		return NOT_AN_OPTION;	/* "-" is standard input: a script of that name */
	if (strcmp(token, "--") == 0)
		return OPTION_END;
	if (AMONG(token, grammar->long_with_word))
		return OPTION_WITH_WORD;
	for (size_t i = 0; i < sizeof(grammar->inline_longs) / sizeof(grammar->inline_longs[0]) && grammar->inline_longs[i]; i++) {
		size_t length = strlen(grammar->inline_longs[i]);

		if (length > 2 && strncmp(token, grammar->inline_longs[i], length) == 0 && token[length] == '=')
			return OPTION_INLINE;
	}
	if (grammar->interpreter == INTERPRETER_JAVA || (token[0] == '-' && token[1] == '-'))
		return OPTION_PLAIN;
	return classify_letters(grammar, token, ret_joined);
}

/* Where the interpreter's own options end. */
struct options_end {
	const char *token;	/* the first that is not one; NULL: argv ends before */
	enum kind kind;		/* what it is */
	const char *joined;	/* the module of -mX */
};

static struct options_end skip_options(const struct grammar *grammar, const struct argv *argv, bool skips_subcommand)
{
	const char *token = argv_next(argv, NULL), *joined = NULL;
	bool may_be_subcommand = skips_subcommand;

	for (token = token ? argv_next(argv, token) : NULL; token; token = argv_next(argv, token)) {
		enum kind kind = classify(grammar, token, &joined);

		switch (kind) {
		case OPTION_PLAIN:
			continue;
		case OPTION_WITH_WORD:
			token = argv_next(argv, token);
			if (!token)
				return (struct options_end){ NULL, NOT_AN_OPTION, NULL };
			continue;
		case OPTION_END:
			return (struct options_end){ argv_next(argv, token), NOT_AN_OPTION, NULL };
		case NOT_AN_OPTION:
			if (may_be_subcommand && AMONG(token, grammar->subcommands)) {
				may_be_subcommand = false;
				continue;
			}
			return (struct options_end){ token, kind, NULL };
		case OPTION_INLINE:
		case OPTION_MODULE:
		case OPTION_STAYS:
			return (struct options_end){ token, kind, joined };
		}
	}
	return (struct options_end){ NULL, NOT_AN_OPTION, NULL };
}

static struct span without_js(struct span name)
{
	static const char *const endings[] = { ".js", ".cjs", ".mjs" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t length = strlen(endings[i]);

		if (name.length > length && memcmp(name.start + name.length - length, endings[i], length) == 0)
			name.length -= length;
	}
	return name;
}

/* X or @scope/X behind the last /node_modules/; of node_modules/.bin/X the command X. */
static struct span package_of(const char *path)
{
	static const char marker[] = "node_modules/";
	const char *found = NULL, *end;

	for (const char *at = strstr(path, marker); at; at = strstr(at + 1, marker))
		if (at == path || at[-1] == '/')
			found = at + sizeof(marker) - 1;
	if (!found)
		return (struct span){ 0 };
	if (strncmp(found, ".bin/", 5) == 0)
		return without_js(span_of(found + 5));
	end = strchr(found, '/');
	if (end && *found == '@')
		end = strchr(end + 1, '/');
	return end ? (struct span){ found, (size_t)(end - found) } : span_of(found);
}

static void take_script(struct program *program, const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;	/* a directory with __main__.py */
	program->script_path = span_of(path);
	program->script = (struct span){ path, length };
	for (size_t i = length; i > 0; i--) {
		if (path[i - 1] == '/') {
			program->script = (struct span){ path + i, length - i };
			break;
		}
	}
	program->script = without_js(program->script);
	program->package = package_of(path);
}

static void identify_java(struct program *program, const struct argv *argv, const struct grammar *grammar)
{
	const char *token = argv_next(argv, NULL), *ignored;

	for (token = token ? argv_next(argv, token) : NULL; token; token = argv_next(argv, token)) {
		if (strcmp(token, "-jar") == 0 || strcmp(token, "-m") == 0 || strcmp(token, "--module") == 0) {
			token = argv_next(argv, token);
			program->main = token && !argv_is_partial(argv, token) ? span_of(basename_of(token)) : (struct span){ 0 };
			program->is_incomplete = argv->is_cut && program->main.length == 0;
			return;
		}
		if (classify(grammar, token, &ignored) == OPTION_WITH_WORD)
			token = argv_next(argv, token);
		else if (token[0] != '-' && token[0] != '@') {
			if (!argv_is_partial(argv, token))
				program->main = span_of(token);
			program->is_incomplete = argv_is_partial(argv, token);
			return;
		}
		if (!token)
			break;
	}
	program->is_incomplete = argv->is_cut;
}

static void identify_script(struct program *program, const struct argv *argv, const struct grammar *grammar)
{
	struct options_end end = skip_options(grammar, argv, true);
	const char *module = end.joined;

	if (!end.token) {
		program->is_incomplete = argv->is_cut;
		program->is_inline = !argv->is_cut;	/* standard input */
		return;
	}
	switch (end.kind) {
	case OPTION_MODULE:
		if (!module)
			module = argv_next(argv, end.token);
		program->is_incomplete = argv->is_cut && (!module || argv_is_partial(argv, module));
		if (module && !program->is_incomplete)
			program->module = span_of(module);
		return;
	case OPTION_INLINE:
		program->is_inline = true;
		return;
	case OPTION_STAYS:
		return;
	default:
		program->is_incomplete = argv_is_partial(argv, end.token);
		if (strcmp(end.token, "-") == 0)
			program->is_inline = true;
		else if (!program->is_incomplete)
			take_script(program, end.token);
	}
}

static struct span facet_at(const struct program *program, int facet)
{
	switch (facet) {
	case 0: return program->exe;
	case 1: return program->argv0;
	case 2: return program->comm;
	case 3: return program->script;
	case 4: return program->package;
	case 5: return program->module;
	default: return program->main;
	}
}

/* Executable, argv[0] and comm are one name mostly: it is compared once. */
static uint8_t distinct_facets(const struct program *program)
{
	uint8_t facets = 0;

	for (int i = 0; i < 7; i++) {
		struct span name = facet_at(program, i);
		bool is_new = name.length > 0;

		for (int j = 0; j < i && is_new; j++) {
			struct span earlier = facet_at(program, j);

			is_new = earlier.length != name.length || memcmp(earlier.start, name.start, name.length) != 0;
		}
		facets |= (uint8_t)(is_new << i);
	}
	return facets;
}

void program_identify(const char *exe, const char *comm, const struct argv *argv, struct program *ret)
{
	const char *argv0 = argv_next(argv, NULL);
	struct program program = { .exe = span_of(exe), .comm = span_of(comm) };
	const struct grammar *grammar;

	if (argv0 && !argv_is_partial(argv, argv0)) {
		program.argv0 = span_of(basename_of(argv0));
		if (program.argv0.length > 1 && program.argv0.start[0] == '-') {	/* a login shell */
			program.argv0.start++;
			program.argv0.length--;
		}
	}
	grammar = grammar_of(program.exe.length ? program.exe : program.argv0);
	program.is_incomplete = !argv->is_known;
	if (grammar) {
		program.interpreter = grammar->interpreter;
		if (!program.is_incomplete && grammar->interpreter == INTERPRETER_JAVA)
			identify_java(&program, argv, grammar);
		else if (!program.is_incomplete)
			identify_script(&program, argv, grammar);
	}
	program.facets = distinct_facets(&program);
	*ret = program;
}

size_t program_facets(const struct program *program, struct span ret[static 7])
{
	size_t count = 0;

	for (int i = 0; i < 7; i++)
		if (program->facets & 1u << i)
			ret[count++] = facet_at(program, i);
	return count;
}

const char *program_first_argument(const struct program *program, const struct argv *argv)
{
	const struct grammar *grammar = grammar_for(program->interpreter);
	const char *token = argv_next(argv, NULL);

	if (grammar)
		return skip_options(grammar, argv, false).token;
	return token ? argv_next(argv, token) : NULL;
}

const char *program_script_argument(const struct program *program, const struct argv *argv)
{
	const char *known = program->script_path.start ? program->script_path.start :
			    program->module.start ? program->module.start : program->main.start;

	for (const char *token = argv_next(argv, NULL); token && known; token = argv_next(argv, token))
		if (known >= token && known <= token + strlen(token))
			return argv_next(argv, token);
	return NULL;
}

static bool spans_equal(struct span a, struct span b)
{
	return a.length == b.length && (a.length == 0 || memcmp(a.start, b.start, a.length) == 0);
}

bool program_is_same(const struct program *a, const struct program *b)
{
	struct span first = a->exe.length ? a->exe : a->argv0, second = b->exe.length ? b->exe : b->argv0;

	if (first.length == 0 || !spans_equal(first, second) || a->interpreter != b->interpreter)
		return false;
	if (a->interpreter == INTERPRETER_NONE)
		return true;
	/* Code on the command line or on standard input: what it is cannot be told from its names. */
	return !a->is_incomplete && !b->is_incomplete && !a->is_inline && !b->is_inline && spans_equal(a->script_path, b->script_path) &&
	       spans_equal(a->module, b->module) && spans_equal(a->main, b->main);
}

bool program_is_shell(const struct program *program)
{
	return program->interpreter == INTERPRETER_SHELL;
}

/* What a shell runs: a script, code of its -c, or its standard input. */
static enum kind shell_runs(const struct argv *argv)
{
	struct options_end end = skip_options(grammar_for(INTERPRETER_SHELL), argv, false);

	return end.token ? end.kind : OPTION_END;
}

bool program_is_interactive_shell(const struct program *program, const struct argv *argv, bool has_tty)
{
	return program_is_shell(program) && has_tty && argv->is_known && !program->is_incomplete && shell_runs(argv) == OPTION_END;
}

bool program_is_script(const struct program *program, const struct argv *argv, bool has_tty)
{
	enum kind kind;

	if (!program_is_shell(program) || !argv->is_known || program->is_incomplete)
		return false;
	kind = shell_runs(argv);
	return kind == NOT_AN_OPTION || (kind == OPTION_END && !has_tty);
}
