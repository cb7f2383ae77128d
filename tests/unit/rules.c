/* SPDX-License-Identifier: GPL-2.0-only */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "../../user/judge/rules.h"

#define MAX 8

/* A matcher from texts: program globs and tokens separated by blanks; NULL not asked. */
struct built {
	struct matcher matcher;
	struct argv_pattern pattern;
	const char *words[4][MAX];
	char text[4][128];
};

static size_t split(const char *text, char *copy, const char **words)
{
	size_t count = 0;

	strcpy(copy, text);
	for (char *rest = copy, *word; (word = strsep(&rest, " "));)
		words[count++] = word;
	return count;
}

static struct built *build(const char *program, const char *script, const char *argv, const char *without)
{
	struct built *built = calloc(1, sizeof(*built));

	built->matcher.name = "test";
	if (program)
		built->matcher.program = (struct globs){ built->words[0], split(program, built->text[0], built->words[0]) };
	if (script)
		built->matcher.script = (struct globs){ built->words[1], split(script, built->text[1], built->words[1]) };
	if (argv) {
		built->pattern = (struct argv_pattern){ built->words[2], split(argv, built->text[2], built->words[2]) };
		built->matcher.argv = &built->pattern;
		built->matcher.argv_count = 1;
	}
	if (without)
		built->matcher.without = (struct globs){ built->words[3], split(without, built->text[3], built->words[3]) };
	return built;
}

static struct process make(const char *exe, const char *argv, size_t length, bool is_cut)
{
	struct process process = { .exe = exe, .comm = exe, .argv = { .bytes = argv, .length = length, .is_cut = is_cut, .is_known = true } };

	program_identify(exe, exe, &process.argv, &process.program);
	return process;
}

static const struct {
	const char *sentence, *program, *script, *argv, *without;
	const char *exe, *tokens;	/* blanks become NUL */
	bool is_cut;
	enum match match;
} rows[] = {
	{ "a beginning", "python3*", NULL, "-m http.server", NULL, "python3.11", "python3 -m http.server 8000", false, MATCH_YES },
	{ "the whole", "python3*", NULL, "-m http.server", NULL, "python3.11", "python3 -m http.server", false, MATCH_YES },
	{ "another module", "python3*", NULL, "-m http.server", NULL, "python3.11", "python3 -m http.client", false, MATCH_NO },
	{ "a longer name", "python3*", NULL, "-m http.server", NULL, "python3.11", "python3 -m http.server2", false, MATCH_NO },
	{ "further on", "python3*", NULL, "-m http.server", NULL, "python3.11", "python3 x.py -m http.server", false, MATCH_NO },
	{ "too short", "python3*", NULL, "-m http.server", NULL, "python3.11", "python3 -m", false, MATCH_NO },
	{ "another executable", "python3*", NULL, "-m http.server", NULL, "tail", "python3 -m http.server", false, MATCH_NO },
	{ "any tokens in between", "ssh", NULL, "... -N ... -L", NULL, "ssh", "ssh -v -N -q -L 1:2:3 h", false, MATCH_YES },
	{ "in the wrong order", "ssh", NULL, "... -N ... -L", NULL, "ssh", "ssh -L 1:2:3 -N", false, MATCH_NO },
	{ "the last of many", "x", NULL, "... a b", NULL, "x", "x a c a a b", false, MATCH_YES },
	{ "none of many", "x", NULL, "... a b", NULL, "x", "x a c a a c", false, MATCH_NO },
	{ "behind the script", "node", "tsx", "watch", NULL, "node", "node /x/tsx watch a.ts", false, MATCH_YES },
	{ "not behind the script", "node", "tsx", "watch", NULL, "node", "node /x/tsx a.ts watch", false, MATCH_NO },
	{ "a package", "node", "@angular/cli", "serve", NULL, "node", "node /x/node_modules/@angular/cli/bin/ng.js serve", false, MATCH_YES },
	{ "a script's ending does not count", "node", "vite", NULL, NULL, "node", "node /x/vite.js", false, MATCH_YES },
	{ "a word that must not be there", "node", "vite", NULL, "build", "node", "node /x/vite.js build", false, MATCH_NO },
	{ "and is not", "node", "vite", NULL, "build", "node", "node /x/vite.js preview", false, MATCH_YES },

	{ "cut, but decided", "python3*", NULL, "-m http.server", NULL, "python3", "python3 -m http.server --bi", true, MATCH_YES },
	{ "cut, but refused", "python3*", NULL, "-m http.server", NULL, "python3", "python3 -m flask --ap", true, MATCH_NO },
	{ "cut within the token that decides", "x", NULL, "run fast", NULL, "x", "x run fa", true, MATCH_UNKNOWN },
	{ "cut before it", "x", NULL, "... fast", NULL, "x", "x run a b", true, MATCH_UNKNOWN },
	{ "what must not be there may lie beyond", "x", NULL, NULL, "slow", "x", "x run a b", true, MATCH_UNKNOWN },
	{ "what must not be there is there", "x", NULL, NULL, "slow", "x", "x slow a b", true, MATCH_NO },
	{ "the executable alone refuses", "y", NULL, "... fast", NULL, "x", "x run a b", true, MATCH_NO },
};

Test(rules, each_match_and_its_twin)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct built *built = build(rows[i].program, rows[i].script, rows[i].argv, rows[i].without);
		size_t length = strlen(rows[i].tokens) + !rows[i].is_cut;
		char *tokens = strdup(rows[i].tokens);
		struct process process;

		for (char *at = tokens; (at = strchr(at, ' ')); at++)
			*at = '\0';
		process = make(rows[i].exe, tokens, length, rows[i].is_cut);
		cr_expect_eq(matcher_fits_process(&built->matcher, &process), rows[i].match, "%s: %d, not %d", rows[i].sentence,
			     matcher_fits_process(&built->matcher, &process), rows[i].match);
		free(tokens);
		free(built);
	}
}

Test(rules, a_list_knows_a_program_by_each_of_its_names)
{
	static const char argv[] = "/usr/bin/node\0/x/node_modules/@anthropic-ai/claude-code/cli.js";
	static const char *const names[] = { "node", "cli", "@anthropic-ai/claude-code", "MainThread" };
	struct process process = make("node", argv, sizeof(argv), false);

	process.comm = "MainThread";
	program_identify(process.exe, process.comm, &process.argv, &process.program);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct built *built = build(names[i], NULL, NULL, NULL);

		cr_expect_eq(matcher_names_process(&built->matcher, &process), MATCH_YES, "%s", names[i]);
		cr_expect_eq(matcher_fits_process(&built->matcher, &process), i == 0 ? MATCH_YES : MATCH_NO, "a rule's program is the executable: %s", names[i]);
		free(built);
	}
}

/* 100,000 tokens and a pattern made to go back: time is their product, not their power. */
Test(rules, a_hostile_argv_takes_no_time, .timeout = 10)
{
	struct built *built = build("x", NULL, "... a ... a ... a b", NULL);
	size_t tokens = 100000;
	char *argv = malloc(tokens * 2);
	struct process process;

	for (size_t i = 0; i < tokens; i++)
		memcpy(argv + i * 2, i ? "a" : "x", 2);
	process = make("x", argv, tokens * 2, false);
	cr_expect_eq(matcher_fits_process(&built->matcher, &process), MATCH_NO);
	free(argv);
	free(built);
}

Test(rules, environment_and_user_and_cgroup)
{
	static const char environment[] = "PATH=/bin\0CI=true\0EMPTY=";
	struct process process = { .environ = FACT_KNOWN, .environment = { .bytes = environment, .length = sizeof(environment), .is_known = true } };
	struct env_condition condition = { "CI", NULL };
	struct rule rule = { .env = &condition, .env_count = 1 };
	const char *glob = "/user.slice/*";
	uint32_t uids[] = { 1000, 1001 };

	cr_expect_eq(rule_fits_environment(&rule, &process), MATCH_YES);
	condition.glob = "tru*";
	cr_expect_eq(rule_fits_environment(&rule, &process), MATCH_YES);
	condition.glob = "false";
	cr_expect_eq(rule_fits_environment(&rule, &process), MATCH_NO);
	condition = (struct env_condition){ "EMPTY", "" };
	cr_expect_eq(rule_fits_environment(&rule, &process), MATCH_YES);
	condition = (struct env_condition){ "C", NULL };
	cr_expect_eq(rule_fits_environment(&rule, &process), MATCH_NO, "the beginning of a name");
	process.environ = FACT_UNREADABLE;
	cr_expect_eq(rule_fits_environment(&rule, &process), MATCH_UNKNOWN);

	/* F7 */
	rule.user = (struct uid_set){ .uids = uids, .count = 2 };
	cr_expect(rule_fits_user(&rule, 1001));
	cr_expect_not(rule_fits_user(&rule, 0));
	rule.user.is_any = true;
	cr_expect(rule_fits_user(&rule, 0));

	rule.cgroup = (struct globs){ &glob, 1 };
	cr_expect(rule_fits_cgroup(&rule, "5:cpu:/x\n0::/user.slice/session-1.scope\n"));
	cr_expect_not(rule_fits_cgroup(&rule, "0::/system.slice/x.service\n"));
	cr_expect_not(rule_fits_cgroup(&rule, "rubbish"));
}

Test(rules, multiprocessing_children)
{
	static const char spawn[] = "python3\0-B\0-c\0from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5, pipe_handle=7)\0--multiprocessing-fork";
	static const char fake[] = "python3\0-c\0print(1) # from multiprocessing.spawn import spawn_main; spawn_main()\0--multiprocessing-fork";
	static const char more[] = "python3\0-c\0from multiprocessing.spawn import spawn_main; spawn_main(1)\0--multiprocessing-fork\0x";
	struct process process = make("python3.11", spawn, sizeof(spawn), false);

	cr_expect(rules_is_multiprocessing_child(&process));
	process = make("python3.11", fake, sizeof(fake), false);
	cr_expect_not(rules_is_multiprocessing_child(&process));
	process = make("python3.11", more, sizeof(more), false);
	cr_expect_not(rules_is_multiprocessing_child(&process));
	process = make("bash", spawn, sizeof(spawn), false);
	cr_expect_not(rules_is_multiprocessing_child(&process));
}
