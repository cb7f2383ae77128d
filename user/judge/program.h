/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * What a process is: the names by which rules and the walk know it, taken from its executable and its argv as
 * given to exec. Pure: reads the argv block, keeps pointers into it. Never substrings of a joined line.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "argv.h"

enum interpreter {
	INTERPRETER_NONE, INTERPRETER_PYTHON, INTERPRETER_NODE, INTERPRETER_DENO, INTERPRETER_BUN, INTERPRETER_PHP,
	INTERPRETER_RUBY, INTERPRETER_PERL, INTERPRETER_JAVA, INTERPRETER_SHELL, INTERPRETER_MAX
};

/* A piece of text that is not NUL-terminated by itself. */
struct span {
	const char *start;
	size_t length;	/* 0: there is none */
};

struct program {
	enum interpreter interpreter;	/* by the executable's basename; busybox is a shell when it is called as one */
	struct span argv0;		/* basename of argv[0], a leading dash (login shell) removed */
	struct span exe;		/* basename of the executable, " (deleted)" never part of it; none when not known */
	struct span comm;		/* as the last exec set it */
	struct span script;		/* interpreter's script: basename, .js .cjs .mjs removed (others kept: manage.py) */
	struct span script_path;	/* as given, whole */
	struct span package;		/* X or @scope/X of .../node_modules/X/... (the innermost node_modules), or of node_modules/.bin/X and .bin/../X/...: X */
	struct span module;		/* python -m MODULE / -mMODULE */
	struct span main;		/* JVM: basename of -jar FILE or the main class */
	uint8_t facets;			/* which of the seven names above are there and differ from those before */
	bool is_incomplete;		/* argv was cut or missing before the parts above were all decided */
	bool is_inline;			/* -c / -e / --eval code instead of a script, or the script comes from standard input */
};

/*
 * exe: basename of the executable, NULL when not known (then argv[0]'s basename decides which interpreter it is).
 * Skipped interpreter options, with those that take a word: cases.md section 2 (python -W -X -Q..., node -r --import
 * --require --loader --conditions ..., php -c -d -z, ruby -I -r ..., perl -I -M, java -cp -classpath --class-path -p
 * --module-path ..., sh -o -O --rcfile --init-file, bun/deno run). env -S and shebang lines arrive already split by the kernel.
 */
void program_identify(const char *exe, const char *comm, const struct argv *argv, struct program *ret);

/*
 * The first argument after the interpreter's own options (contract.md), where a rule's argv is anchored when the rule has no
 * `script`: python's -m (or -mX, or -c, or the script's path), node's script path, php's -S, a native program's argv[1].
 * NULL: none.
 */
const char *program_first_argument(const struct program *program, const struct argv *argv);
/*
 * First token behind the script (or behind -m MODULE, -jar FILE, the main class), where a rule's argv is anchored when the rule
 * has a `script`: `script = tsx`, `argv = watch ...`. NULL: none, or no script.
 */
const char *program_script_argument(const struct program *program, const struct argv *argv);

/* Same program (design.md, Words): same executable and, for an interpreter, the same script, module, jar. Unknown: false. */
bool program_is_same(const struct program *a, const struct program *b);

/* The names by which lists and protections know a program, in the order of their bits; at most 7, as many as are given back. */
size_t program_facets(const struct program *program, struct span ret[static 7]);

/* Shell with neither -c (alone or inside -lc; -o, -O, --rcfile, --init-file take a word) nor a script (with -s there is none): interactive
   if it has a terminal. */
bool program_is_shell(const struct program *program);
bool program_is_interactive_shell(const struct program *program, const struct argv *argv, bool has_tty);
/* A non-interactive shell running a file or its standard input (design.md: script). */
bool program_is_script(const struct program *program, const struct argv *argv, bool has_tty);

bool span_equals(struct span span, const char *text);
/* fnmatch(3) without flags against the span; spans longer than 4096 bytes never match. */
bool span_matches(struct span span, const char *glob);
