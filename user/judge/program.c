/* SPDX-License-Identifier: GPL-2.0-only */
#include <fnmatch.h>
#include <string.h>
#include "program.h"

/* An interpreter by the basename of its executable, and its options as its manual gives them. */
struct grammar {
	enum interpreter interpreter;
	const char *const names[20];		/* globs that begin with a letter */
	const char *short_with_word;		/* letters whose word follows (joined, or as the next token) */
	const char *short_with_rest;		/* letters whose word is joined or not there: the rest of the token is theirs */
	const char *const long_with_word[64];	/* without a `=`, the next token is theirs */
	const char *inline_letters;		/* code in the next token, no script follows: -c, -e */
	const char *const inline_longs[8];
	const char *const inline_commands[4];	/* the same in front of any subcommand: `deno task` */
	const char *const subcommands[4];	/* skipped once in front of the script: `deno run`, `bun run` */
	bool has_module;			/* python's -m ends the options as a script does */
	char file_letter;			/* php's -f FILE names the script */
	const char *file_long;
	const char *stays;			/* letters that are no option to skip: the rule sees them (php's -S) */
	const char *const stay_longs[4];
};

/*
 * Of several for one interpreter the last takes every name that the others do not. node's options with a word are those that its own
 * table (node --expose-internals, internalBinding('options'), v20) types as string, list, number or port, and newer ones of its manual;
 * V8's own take none.
 */
static const struct grammar grammars[] = {
	{
		.interpreter = INTERPRETER_PYTHON, .names = { "python", "python[0-9]*", "pypy", "pypy[0-9]*" },
		.short_with_word = "WXQ", .long_with_word = { "--check-hash-based-pycs", "--jit" }, .inline_letters = "c", .has_module = true,
	},
	{
		.interpreter = INTERPRETER_NODE, .names = { "node", "nodejs", "node[0-9]*", "node-[0-9]*" }, .short_with_word = "rC",
		.long_with_word = {
			"--require", "--import", "--loader", "--experimental-loader", "--conditions", "--env-file", "--env-file-if-exists", "--title",
			"--icu-data-dir", "--openssl-config", "--diagnostic-dir", "--redirect-warnings", "--input-type", "--watch-path",
			"--watch-kill-signal", "--cpu-prof-dir", "--cpu-prof-name", "--cpu-prof-interval", "--heap-prof-dir", "--heap-prof-name",
			"--heap-prof-interval", "--heapsnapshot-signal", "--heapsnapshot-near-heap-limit", "--experimental-default-type",
			"--experimental-specifier-resolution", "--es-module-specifier-resolution", "--experimental-policy", "--policy-integrity",
			"--experimental-sea-config", "--experimental-config-file", "--inspect-port", "--debug-port", "--inspect-publish-uid",
			"--max-http-header-size", "--dns-result-order", "--network-family-autoselection-attempt-timeout", "--trace-event-categories",
			"--trace-event-file-pattern", "--trace-require-module", "--unhandled-rejections", "--disable-warning", "--disable-proto",
			"--allow-fs-read", "--allow-fs-write", "--secure-heap", "--secure-heap-min", "--security-revert", "--security-reverts",
			"--snapshot-blob", "--build-snapshot-config", "--report-dir", "--report-directory", "--report-filename", "--report-signal",
			"--tls-cipher-list", "--tls-keylog", "--use-largepages", "--v8-pool-size", "--localstorage-file",
		},
		.inline_letters = "ep", .inline_longs = { "--eval", "--print", "-pe", "--run", "--interactive", "--test" },
	},
	{
		.interpreter = INTERPRETER_DENO, .names = { "deno" }, .short_with_word = "cL",
		.long_with_word = {
			"--config", "--import-map", "--lock", "--location", "--cert", "--seed", "--log-level", "--ext", "--host", "--port", "--preload",
			"--import",
		},
		.inline_commands = { "eval", "task", "repl" }, .subcommands = { "run", "serve" },
	},
	{
		.interpreter = INTERPRETER_BUN, .names = { "bun", "bunx" }, .short_with_word = "rcldu",
		.long_with_word = {
			"--preload", "--require", "--import", "--config", "--cwd", "--env-file", "--define", "--loader", "--port", "--origin", "--filter",
			"--tsconfig-override", "--conditions", "--title", "--shell", "--install", "--main-fields", "--extension-order", "--external",
			"--drop", "--dns-result-order", "--max-http-header-size", "--console-depth", "--unhandled-rejections", "--user-agent",
			"--fetch-preconnect", "--elide-lines",
		},
		.inline_letters = "ep", .inline_longs = { "--eval", "--print" }, .subcommands = { "run", "x" },
	},
	{
		.interpreter = INTERPRETER_PHP, .names = { "php", "php[0-9]*" }, .short_with_word = "cdz",
		.long_with_word = { "--php-ini", "--define", "--zend-extension" }, .inline_letters = "rBRE",
		.inline_longs = { "--run", "--process-begin", "--process-code", "--process-end" }, .file_letter = 'f', .file_long = "--file",
		.stays = "StF", .stay_longs = { "--server", "--docroot", "--process-file" },
	},
	{
		.interpreter = INTERPRETER_RUBY, .names = { "ruby", "ruby[0-9]*" }, .short_with_word = "ICEXr", .short_with_rest = "FKTWix",
		.long_with_word = {
			"--encoding", "--external-encoding", "--internal-encoding", "--enable", "--disable", "--dump", "--backtrace-limit",
		},
		.inline_letters = "e",
	},
	{
		.interpreter = INTERPRETER_PERL, .names = { "perl", "perl[0-9]*" }, .short_with_word = "I", .short_with_rest = "CDFMVimx",
		.inline_letters = "eE",
	},
	{
		.interpreter = INTERPRETER_JAVA, .names = { "java" },
		.long_with_word = {
			"-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path", "--add-modules", "--add-exports",
			"--add-opens", "--add-reads", "--limit-modules", "--patch-module", "--enable-native-access", "--source", "-d", "--describe-module",
		},
	},
	{
		.interpreter = INTERPRETER_SHELL, .names = { "fish" }, .short_with_word = "CDdfop",
		.long_with_word = {
			"--init-command", "--features", "--debug", "--debug-output", "--debug-stack-frames", "--profile", "--profile-startup",
		},
		.inline_letters = "c", .inline_longs = { "--command" },
	},
	{
		/* These take the word of -o joined as well; the others from the next token alone, wherever in its token the letter stands. */
		.interpreter = INTERPRETER_SHELL, .names = { "zsh", "zsh[0-9]*", "zsh-[0-9]*", "mksh*", "lksh" }, .short_with_word = "o",
		.long_with_word = { "--emulate" }, .inline_letters = "c",
	},
	{
		.interpreter = INTERPRETER_SHELL,
		.names = { "sh", "bash", "rbash", "dash", "ksh*", "ash", "hush", "yash", "posh", "csh", "tcsh", "bsd-csh", "busybox*" },
		.short_with_word = "oO", .long_with_word = { "--rcfile", "--init-file" }, .inline_letters = "c",
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

/* --long alone or --long=word. */
static bool is_long(const char *token, const char *name)
{
	size_t length = strlen(name);

	return strncmp(token, name, length) == 0 && (!token[length] || token[length] == '=');
}

static bool is_among_longs(const char *token, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count && names[i]; i++)
		if (is_long(token, names[i]))
			return true;
	return false;
}
#define AMONG_LONGS(token, names) is_among_longs(token, names, sizeof(names) / sizeof((names)[0]))

static bool has_letter(const char *letters, char letter)
{
	return letters && strchr(letters, letter);
}

static bool grammar_names(const struct grammar *grammar, struct span name)
{
	for (size_t i = 0; i < sizeof(grammar->names) / sizeof(grammar->names[0]) && grammar->names[i] && name.length > 0; i++)
		if (grammar->names[i][0] == name.start[0] && span_matches(name, grammar->names[i]))
			return true;
	return false;
}

static const struct grammar *grammar_of(struct span name)
{
	for (size_t i = 0; i < sizeof(grammars) / sizeof(grammars[0]); i++)
		if (grammar_names(&grammars[i], name))
			return &grammars[i];
	return NULL;
}

static struct span name_of(const struct program *program)
{
	return program->exe.length ? program->exe : program->argv0;
}

/* The grammar of an identified program; NULL: it is no interpreter. */
static const struct grammar *grammar_for(const struct program *program)
{
	const struct grammar *last = NULL;

	for (size_t i = 0; i < sizeof(grammars) / sizeof(grammars[0]) && program->interpreter != INTERPRETER_NONE; i++) {
		if (grammars[i].interpreter != program->interpreter)
			continue;
		if (last && grammar_names(last, name_of(program)))
			return last;
		last = &grammars[i];
	}
	return last;
}

enum kind {
	OPTION_PLAIN, OPTION_WITH_WORD, OPTION_INLINE, OPTION_MODULE, OPTION_FILE, OPTION_END, OPTION_STAYS,
	STANDARD_INPUT,		/* no script: what is run comes from there */
	NOT_AN_OPTION,
};

struct option {
	enum kind kind;
	const char *joined;	/* the word of -mX, -fX */
	bool reads_input;	/* a shell's -s: what follows are arguments */
};

/*
 * "-eo pipefail", "-oc pipefail CODE", "+o x": -c counts wherever it stands, and bash, dash and csh take the word of each o from the
 * tokens behind; zsh, mksh and fish take the rest of the token if there is one.
 */
static struct option classify_shell(const struct grammar *grammar, const char *token)
{
	bool takes_joined = !has_letter(grammar->short_with_word, 'O');
	struct option option = { .kind = OPTION_PLAIN };

	for (const char *letter = token + 1; *letter; letter++) {
		if (has_letter(grammar->short_with_word, *letter)) {
			if (!takes_joined || !letter[1])
				option.kind = OPTION_WITH_WORD;
			if (takes_joined)
				break;
		} else if (token[0] == '-' && has_letter(grammar->inline_letters, *letter)) {
			return (struct option){ .kind = OPTION_INLINE };
		} else if (token[0] == '-' && *letter == 's') {
			option.reads_input = true;
		}
	}
	return option;
}

/* "-um" and "-Bc": letters may be joined; the one that takes a word takes the rest of the token, or the next token. */
static struct option classify_letters(const struct grammar *grammar, const char *token)
{
	for (const char *letter = token + 1; *letter; letter++) {
		const char *joined = letter[1] ? letter + 1 : NULL;

		if (has_letter(grammar->stays, *letter))
			return (struct option){ .kind = OPTION_STAYS };
		if (has_letter(grammar->inline_letters, *letter))
			return (struct option){ .kind = OPTION_INLINE };
		if (grammar->has_module && *letter == 'm')
			return (struct option){ .kind = OPTION_MODULE, .joined = joined };
		if (grammar->file_letter && *letter == grammar->file_letter)
			return (struct option){ .kind = OPTION_FILE, .joined = joined };
		if (has_letter(grammar->short_with_word, *letter))
			return (struct option){ .kind = joined ? OPTION_PLAIN : OPTION_WITH_WORD };
		/* perl's -d:Trace and ruby's -W:no-deprecated too */
		if (has_letter(grammar->short_with_rest, *letter) || (joined && (*joined == ':' || *joined == '=')))
			break;
	}
	return (struct option){ .kind = OPTION_PLAIN };
}

static struct option classify(const struct grammar *grammar, const char *token)
{
	bool is_shell = grammar->interpreter == INTERPRETER_SHELL, is_java = grammar->interpreter == INTERPRETER_JAVA;

	if (is_java && token[0] == '@')
		return (struct option){ .kind = OPTION_PLAIN };		/* a file of options */
	if (token[0] != '-' && !(is_shell && token[0] == '+' && token[1]))
		return (struct option){ .kind = NOT_AN_OPTION };
	if (!token[1])
		return (struct option){ .kind = is_shell ? OPTION_END : STANDARD_INPUT };
	if (strcmp(token, "--") == 0)
		return (struct option){ .kind = OPTION_END };
	if (AMONG_LONGS(token, grammar->inline_longs))
		return (struct option){ .kind = OPTION_INLINE };
	if (AMONG_LONGS(token, grammar->stay_longs))
		return (struct option){ .kind = OPTION_STAYS };
	if (grammar->file_long && is_long(token, grammar->file_long)) {
		const char *equals = strchr(token, '=');

		return (struct option){ .kind = OPTION_FILE, .joined = equals ? equals + 1 : NULL };
	}
	if (AMONG(token, grammar->long_with_word))
		return (struct option){ .kind = OPTION_WITH_WORD };
	if (is_java || (token[0] == '-' && token[1] == '-'))
		return (struct option){ .kind = OPTION_PLAIN };
	return is_shell ? classify_shell(grammar, token) : classify_letters(grammar, token);
}

/* Where the interpreter's own options end. */
struct options_end {
	const char *token;	/* the first that is not one; NULL: argv ends before */
	enum kind kind;		/* what it is; STANDARD_INPUT when there is none */
	const char *joined;	/* the word of -mX, -fX */
};

static bool is_busybox(struct span name)
{
	return name.length >= 7 && memcmp(name.start, "busybox", 7) == 0;
}

/* The token that says what is run: argv[0], of `busybox APPLET` the applet's. */
static const char *called_as(const struct argv *argv)
{
	const char *token = argv_next(argv, NULL);

	return token && is_busybox(span_of(basename_of(token))) ? argv_next(argv, token) : token;
}

static struct options_end skip_options(const struct grammar *grammar, const struct argv *argv, bool skips_subcommand)
{
	const char *token = grammar->interpreter == INTERPRETER_SHELL ? called_as(argv) : argv_next(argv, NULL);
	bool may_be_subcommand = skips_subcommand, reads_input = false;

	for (token = token ? argv_next(argv, token) : NULL; token; token = argv_next(argv, token)) {
		struct option option = classify(grammar, token);

		reads_input |= option.reads_input;
		switch (option.kind) {
		case OPTION_PLAIN:
			continue;
		case OPTION_WITH_WORD:
			token = argv_next(argv, token);
			if (!token)
				return (struct options_end){ .kind = STANDARD_INPUT };
			continue;
		case OPTION_END:
			token = argv_next(argv, token);
			return (struct options_end){ .token = token, .kind = token && !reads_input ? NOT_AN_OPTION : STANDARD_INPUT };
		case NOT_AN_OPTION:
			if (may_be_subcommand && AMONG(token, grammar->inline_commands))
				return (struct options_end){ .token = token, .kind = OPTION_INLINE };
			if (may_be_subcommand && AMONG(token, grammar->subcommands)) {
				may_be_subcommand = false;
				continue;
			}
			return (struct options_end){ .token = token, .kind = reads_input ? STANDARD_INPUT : NOT_AN_OPTION };
		case OPTION_INLINE:
		case OPTION_MODULE:
		case OPTION_FILE:
		case OPTION_STAYS:
		case STANDARD_INPUT:
			return (struct options_end){ .token = token, .kind = option.kind, .joined = option.joined };
		}
	}
	return (struct options_end){ .kind = STANDARD_INPUT };
}

static struct span without_js(struct span name)
{
	static const char *const endings[] = { ".js", ".cjs", ".mjs" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t length = strlen(endings[i]);

		if (name.length > length && memcmp(name.start + name.length - length, endings[i], length) == 0)
			return (struct span){ name.start, name.length - length };
	}
	return name;
}

/*
 * X or @scope/X behind the last /node_modules/; of node_modules/.bin/X the command X. pnpm's commands are shell files that run
 * node_modules/.bin/../X/FILE: that is X.
 */
static struct span package_of(const char *path)
{
	static const char marker[] = "node_modules/";
	const char *found = NULL, *end;

	for (const char *at = strstr(path, marker); at; at = strstr(at + 1, marker))
		if (at == path || at[-1] == '/')
			found = at + sizeof(marker) - 1;
	if (!found)
		return (struct span){ 0 };
	while (strncmp(found, ".bin/../", 8) == 0)
		found += 8;
	if (strncmp(found, "../", 3) == 0)
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
	const char *token = argv_next(argv, NULL);

	for (token = token ? argv_next(argv, token) : NULL; token; token = argv_next(argv, token)) {
		bool is_path = strcmp(token, "-jar") == 0 || strcmp(token, "-m") == 0 || strcmp(token, "--module") == 0;
		enum kind kind = classify(grammar, token).kind;

		if (is_path || kind == OPTION_WITH_WORD) {
			token = argv_next(argv, token);
			if (!token)
				break;
		}
		if (is_path || kind == NOT_AN_OPTION) {
			program->is_incomplete = argv_is_partial(argv, token);
			if (!program->is_incomplete)
				program->main = span_of(is_path ? basename_of(token) : token);
			return;
		}
	}
	program->is_incomplete = argv->is_cut;
}

static void identify_script(struct program *program, const struct argv *argv, const struct grammar *grammar)
{
	struct options_end end = skip_options(grammar, argv, true);
	const char *word = end.joined;

	if (!end.token) {
		program->is_incomplete = argv->is_cut;
		program->is_inline = !argv->is_cut;	/* standard input */
		return;
	}
	switch (end.kind) {
	case OPTION_MODULE:
	case OPTION_FILE:
		if (!word)
			word = argv_next(argv, end.token);
		program->is_incomplete = argv->is_cut && (!word || argv_is_partial(argv, word));
		if (!word || program->is_incomplete)
			return;
		if (end.kind == OPTION_MODULE)
			program->module = span_of(word);
		else
			take_script(program, word);
		return;
	case OPTION_INLINE:
		program->is_inline = true;
		return;
	case OPTION_STAYS:
		return;
	case STANDARD_INPUT:
		/* "-" alone; but it may be the beginning of an option that was cut. */
		program->is_incomplete = strcmp(end.token, "-") == 0 && argv_is_partial(argv, end.token);
		program->is_inline = !program->is_incomplete;
		return;
	default:
		program->is_incomplete = argv_is_partial(argv, end.token);
		if (!program->is_incomplete)
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

/* busybox is a shell when it is called as one; else it is the program of that name: httpd, tcpsvd, timeout. */
static const struct grammar *applet_shell(const struct argv *argv, bool *ret_is_incomplete)
{
	static const char *const shells[] = { "sh", "ash", "hush", "bash" };
	const char *token = called_as(argv), *name;

	if (!token || argv_is_partial(argv, token)) {
		*ret_is_incomplete |= argv->is_cut;
		return NULL;
	}
	name = basename_of(token);
	if (*name == '-')
		name++;
	return AMONG(name, shells) ? grammar_of(span_of("sh")) : NULL;
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
	/* Without any name it may be anything. */
	program.is_incomplete = !argv->is_known || (argv0 && program.exe.length == 0 && program.argv0.length == 0);
	grammar = grammar_of(name_of(&program));
	if (grammar && grammar->interpreter == INTERPRETER_SHELL && is_busybox(name_of(&program)))
		grammar = applet_shell(argv, &program.is_incomplete);
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
	const struct grammar *grammar = grammar_for(program);
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
	struct span first = name_of(a), second = name_of(b);

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
static enum kind shell_runs(const struct program *program, const struct argv *argv)
{
	return skip_options(grammar_for(program), argv, false).kind;
}

bool program_is_interactive_shell(const struct program *program, const struct argv *argv, bool has_tty)
{
	return program_is_shell(program) && has_tty && argv->is_known && !program->is_incomplete && shell_runs(program, argv) == STANDARD_INPUT;
}

bool program_is_script(const struct program *program, const struct argv *argv, bool has_tty)
{
	enum kind kind;

	if (!program_is_shell(program) || !argv->is_known || program->is_incomplete)
		return false;
	kind = shell_runs(program, argv);
	return kind == NOT_AN_OPTION || (kind == STANDARD_INPUT && !has_tty);
}
