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
	struct process process = { .exe = exe, .comm = exe ? exe : "", .argv = { .bytes = argv, .length = length, .is_cut = is_cut, .is_known = true } };

	program_identify(exe, process.comm, &process.argv, &process.program);
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
	{ "cut within a token that is already another", "x", NULL, "run fast", NULL, "x", "x run sl", true, MATCH_NO },
	{ "cut within a token that is already longer", "x", NULL, "run fast", NULL, "x", "x run faster", true, MATCH_NO },
	{ "cut within a token whose glob takes the rest", "x", NULL, "run --dir=/tmp/*", NULL, "x", "x run --dir=/tmp/a", true, MATCH_YES },
	{ "cut before the part that takes the rest", "x", NULL, "run --dir=/tmp/*", NULL, "x", "x run --dir=/t", true, MATCH_UNKNOWN },
	{ "an escaped star takes nothing", "x", NULL, "run a\\*", NULL, "x", "x run a*", true, MATCH_UNKNOWN },
	{ "a set may still match", "x", NULL, "run a[bc]", NULL, "x", "x run ab", true, MATCH_UNKNOWN },
	{ "what must not be there is there in part", "x", NULL, NULL, "--type=*", "x", "x --type=rend", true, MATCH_NO },
	{ "cut exactly behind the token that decides", "x", NULL, "run fast", NULL, "x", "x run fast\1", true, MATCH_YES },
	{ "cut exactly behind one that does not", "x", NULL, "run fast", NULL, "x", "x run slow\1", true, MATCH_NO },
	{ "cut before the script", "node", "vite", NULL, NULL, "node", "node --require /long/pa", true, MATCH_UNKNOWN },
	{ "cut behind the script", "node", "vite", NULL, NULL, "node", "node /x/vite.js --po", true, MATCH_YES },
	{ "cut behind another script", "node", "vite", NULL, NULL, "node", "node /x/webpack --po", true, MATCH_NO },
	{ "a native program has no script, cut or not", "x", "vite", NULL, NULL, "x", "x run a", true, MATCH_NO },
	{ "no executable known: argv[0]", "kubectl", NULL, "port-forward", NULL, NULL, "/usr/bin/kubectl port-forward x", false, MATCH_YES },
	{ "no executable known, another argv[0]", "kubectl", NULL, "port-forward", NULL, NULL, "/usr/bin/oc port-forward x", false, MATCH_NO },
	{ "no executable known, argv[0] cut", "kubectl", NULL, NULL, NULL, NULL, "/usr/bin/kub", true, MATCH_UNKNOWN },
	{ "a pattern of nothing but any", "x", NULL, "...", NULL, "x", "x", false, MATCH_YES },
	{ "any and then one, of none", "x", NULL, "... a", NULL, "x", "x", false, MATCH_NO },
	{ "any twice", "x", NULL, "... ... a", NULL, "x", "x b a", false, MATCH_YES },
	{ "any at the end takes none as well", "x", NULL, "a ...", NULL, "x", "x a", false, MATCH_YES },
	{ "a token with a slash is matched by *", "node", NULL, "*/next dev", NULL, "node", "node /p/node_modules/.bin/next dev", false, MATCH_YES },
	{ "a token that begins with a dot too", "node", NULL, "*/next dev", NULL, "node", "node ./next dev", false, MATCH_YES },
	{ "a prompt that holds the words is one token", "claude", NULL, "... -m http.server", NULL, "claude", "claude run\2-m\2http.server", false, MATCH_NO },
	{ "a package in .bin", "node", "vite", NULL, NULL, "node", "node /p/node_modules/.bin/vite", false, MATCH_YES },
	{ "the package of pnpm's way", "node", "storybook", "dev", NULL, "node", "node /p/node_modules/.bin/../storybook/bin/index.cjs dev", false, MATCH_YES },
	{ "the script in an argument", "node", "vite", NULL, NULL, "node", "node app.js vite", false, MATCH_NO },
	{ "the executable alone refuses", "y", NULL, "... fast", NULL, "x", "x run a b", true, MATCH_NO },
};

Test(rules, each_match_and_its_twin)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct built *built = build(rows[i].program, rows[i].script, rows[i].argv, rows[i].without);
		size_t length = strlen(rows[i].tokens) + !rows[i].is_cut;
		char *tokens = strdup(rows[i].tokens);
		struct process process;

		/* \1 stands for the NUL behind which it was cut, \2 for a blank */
		for (size_t at = 0; at < length; at++)
			tokens[at] = tokens[at] == ' ' || tokens[at] == '\1' ? '\0' : tokens[at] == '\2' ? ' ' : tokens[at];
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

	/* F7: no host-wide kills */
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
	static const char behind[] = "python3\0-c\0from multiprocessing.spawn import spawn_main; spawn_main(1); print(2)\0--multiprocessing-fork";
	static const char other[] = "python3\0-c\0from multiprocessing.spawn import spawn_main; spawn_main(1)\0--fork";
	static const char module[] = "python3\0-m\0http.server";
	static const char alone[] = "python3\0-c";
	static const char joined[] = "python3\0-Bc\0from multiprocessing.spawn import spawn_main; spawn_main(1)\0--multiprocessing-fork";
	static const char in_script[] = "python3\0x.py\0-c\0from multiprocessing.spawn import spawn_main; spawn_main(1)\0--multiprocessing-fork";
	static const char lacks_paren[] = "python3\0-c\0from multiprocessing.spawn import spawn_main; spawn_main(1\0--multiprocessing-fork";
	static const struct {
		const char *argv;
		size_t length;
	} not[] = {
		{ behind, sizeof(behind) }, { other, sizeof(other) }, { module, sizeof(module) }, { alone, sizeof(alone) },
		{ in_script, sizeof(in_script) }, { lacks_paren, sizeof(lacks_paren) }, { joined, sizeof(joined) },
	};
	struct process process = make("python3.11", spawn, sizeof(spawn), false);

	cr_expect(rules_is_multiprocessing_child(&process));
	for (size_t i = 0; i < sizeof(not) / sizeof(not[0]); i++) {
		process = make("python3.11", not[i].argv, not[i].length, false);
		cr_expect_not(rules_is_multiprocessing_child(&process), "%zu", i);
	}
	for (size_t length = 1; length <= sizeof(spawn); length++) {
		char *bytes = calloc(1, length + 1);

		memcpy(bytes, spawn, length);
		process = make("python3.11", bytes, length, true);
		cr_expect_not(rules_is_multiprocessing_child(&process), "cut at %zu", length);
		free(bytes);
	}
	process = make("python3.11", fake, sizeof(fake), false);
	cr_expect_not(rules_is_multiprocessing_child(&process));
	process = make("python3.11", more, sizeof(more), false);
	cr_expect_not(rules_is_multiprocessing_child(&process));
	process = make("bash", spawn, sizeof(spawn), false);
	cr_expect_not(rules_is_multiprocessing_child(&process));
}

Test(rules, with_and_without)
{
	static const char argv[] = "chrome\0--headless=new\0--remote-debugging-port=9222\0--user-data-dir=/tmp/x";
	const char *two[] = { "--remote-debugging-port=*", "--headless*" }, *one[] = { "--headless*", "--enable-automation" };
	struct matcher matcher = { .name = "", .with = { two, 2 } };
	struct process process = make("chrome", argv, sizeof(argv), false);

	cr_expect_eq(matcher_fits_process(&matcher, &process), MATCH_YES);
	cr_expect_eq(rule_fits_process(&(struct rule){ .matcher = matcher }, &process), MATCH_YES);
	matcher.with = (struct globs){ one, 2 };
	cr_expect_eq(matcher_fits_process(&matcher, &process), MATCH_NO, "all must be there");
	matcher.without = (struct globs){ two, 2 };
	matcher.with.count = 1;
	cr_expect_eq(matcher_fits_process(&matcher, &process), MATCH_NO, "none may be there");

	process.argv.is_cut = true;
	matcher.without.count = 0;
	cr_expect_eq(matcher_fits_process(&matcher, &process), MATCH_YES, "it is there whatever lies beyond");
	matcher.with.count = 2;
	cr_expect_eq(matcher_fits_process(&matcher, &process), MATCH_UNKNOWN, "the other may lie beyond");
}

Test(rules, one_alternative_is_enough)
{
	static const char argv[] = "x\0a\0b";
	const char *first[] = { "a" }, *second[] = { "a", "bc" }, *third[] = { "c" };
	struct argv_pattern patterns[] = { { first, 1 }, { second, 2 }, { third, 1 } };
	struct matcher matcher = { .name = "", .argv = patterns, .argv_count = 3 };
	struct process process = make("x", argv, sizeof(argv) - 1, true);

	cr_expect_eq(matcher_fits_process(&matcher, &process), MATCH_YES, "the first, whatever the second would need to know");
	matcher = (struct matcher){ .name = "", .argv = patterns + 1, .argv_count = 2 };
	cr_expect_eq(matcher_fits_process(&matcher, &process), MATCH_UNKNOWN, "the third does not, but the second may");
	matcher = (struct matcher){ .name = "", .argv = patterns + 2, .argv_count = 1 };
	cr_expect_eq(matcher_fits_process(&matcher, &process), MATCH_NO);
}

Test(rules, an_argv_that_was_missed_is_not_known)
{
	struct process process = { .exe = "node", .comm = "node" };
	struct built *argv = build("node", NULL, "a", NULL), *script = build("node", "vite", NULL, NULL), *without = build("node", NULL, NULL, "a");
	struct built *program = build("node", NULL, NULL, NULL), *other = build("vite", NULL, NULL, NULL), *native = build("nginx", "vite", NULL, NULL);

	program_identify(process.exe, process.comm, &process.argv, &process.program);
	cr_expect_eq(matcher_fits_process(&argv->matcher, &process), MATCH_UNKNOWN);
	cr_expect_eq(matcher_fits_process(&script->matcher, &process), MATCH_UNKNOWN);
	cr_expect_eq(matcher_fits_process(&without->matcher, &process), MATCH_UNKNOWN);
	cr_expect_eq(matcher_fits_process(&program->matcher, &process), MATCH_YES, "its executable is known");
	cr_expect_eq(matcher_fits_process(&other->matcher, &process), MATCH_NO, "so it is known to be no other");
	cr_expect_eq(matcher_names_process(&other->matcher, &process), MATCH_UNKNOWN, "but its script may be of that name");

	process.exe = process.comm = "nginx";
	program_identify(process.exe, process.comm, &process.argv, &process.program);
	cr_expect_eq(matcher_names_process(&other->matcher, &process), MATCH_NO, "a native program has no script");
	cr_expect_eq(matcher_fits_process(&native->matcher, &process), MATCH_NO);

	process.exe = NULL;
	process.comm = "";
	program_identify(process.exe, process.comm, &process.argv, &process.program);
	cr_expect_eq(matcher_fits_process(&program->matcher, &process), MATCH_UNKNOWN, "nothing is known of it");
	cr_expect_eq(matcher_names_process(&program->matcher, &process), MATCH_UNKNOWN);
	cr_expect_eq(matcher_names_process(&script->matcher, &process), MATCH_UNKNOWN);
	free(argv);
	free(script);
	free(without);
	free(program);
	free(other);
	free(native);
}

Test(rules, port_and_scope)
{
	static const struct port_range ranges[] = { { 80, 80 }, { 8000, 8999 } };
	struct rule rule = { .ports = ranges, .port_count = 2 };
	struct listener listener = { .address = { .family = 2, .bytes = { 127, 0, 0, 1 } } };
	static const struct {
		uint16_t port;
		bool fits;
	} ports[] = { { 80, true }, { 81, false }, { 7999, false }, { 8000, true }, { 8999, true }, { 9000, false }, { 0, false }, { 65535, false } };

	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		listener.port = ports[i].port;
		cr_expect_eq(rule_fits_listener(&rule, &listener), ports[i].fits, "%u", ports[i].port);
	}
	rule.port_count = 0;
	cr_expect(rule_fits_listener(&rule, &listener), "no port asked for");
	rule.scopes = 1u << SCOPE_EXPOSED;
	cr_expect_not(rule_fits_listener(&rule, &listener));
	listener.address.bytes[0] = 0;
	cr_expect(rule_fits_listener(&rule, &listener));
	listener.bound_dev = 1;
	cr_expect_not(rule_fits_listener(&rule, &listener), "bound to lo");
	rule.scopes |= 1u << SCOPE_LOOPBACK;
	cr_expect(rule_fits_listener(&rule, &listener), "either");
}

Test(rules, a_rule_without_conditions_on_its_surroundings_meets_them)
{
	struct process process = { .environ = FACT_NOT_ASKED };
	struct rule rule = { .matcher = { .name = "" } };

	cr_expect_eq(rule_fits_environment(&rule, &process), MATCH_YES);
	cr_expect(rule_fits_cgroup(&rule, "0::/x\n"));
	cr_expect_not(rule_names_server(&rule), "and names no server");
	rule.matcher.script.count = 1;
	cr_expect(rule_names_server(&rule));
	rule.matcher.script.count = 0;
	rule.matcher.with.count = 1;
	cr_expect(rule_names_server(&rule));
	rule.matcher.with.count = 0;
	rule.matcher.argv_count = 1;
	cr_expect(rule_names_server(&rule));
}

Test(rules, cgroup_lines)
{
	static const struct {
		const char *cgroup, *glob;
		bool fits;
	} lines[] = {
		{ "0::/user.slice\n", "/user.slice", true }, { "0::/user.slice", "/user.slice", true }, { "0::/user.slice/x\n", "/user.slice", false },
		{ "1:name=systemd:/a\n0::/b\n", "/a", true }, { "1:name=systemd:/a\n0::/b\n", "/b", true }, { "1:name=systemd:/a\n0::/b\n", "name*", false },
		{ "0::/a:b\n", "/a:b", true }, { "0::\n", "*", false }, { "", "*", false }, { "\n\n", "*", false }, { "0:\n:/x\n", "*", false },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct rule rule = { .cgroup = { &lines[i].glob, 1 } };

		cr_expect_eq(rule_fits_cgroup(&rule, lines[i].cgroup), lines[i].fits, "%s in `%s`", lines[i].glob, lines[i].cgroup);
	}
}

Test(rules, born_of_knows_each_name)
{
	static const char argv[] = "java\0-jar\0/opt/agent.jar";
	struct process process = make("java", argv, sizeof(argv), false);
	const char *names[] = { "remoting.jar", "agent.jar" };
	struct globs globs = { names, 1 };

	cr_expect_not(globs_name_program(&globs, &process.program));
	globs.count = 2;
	cr_expect(globs_name_program(&globs, &process.program));
	globs.count = 0;
	cr_expect_not(globs_name_program(&globs, &process.program));
}

/* One matcher a list, each of one name. */
static struct ruleset lists_of(struct matcher *matchers, struct globs *globs, const char *const *names)
{
	struct ruleset ruleset = { 0 };

	for (int kind = KEEPER_AGENT; kind <= KEEPER_WRAPPER; kind++) {
		globs[kind] = (struct globs){ &names[kind], 1 };
		matchers[kind] = (struct matcher){ .name = "", .program = globs[kind] };
		ruleset.lists[kind] = (struct name_list){ &matchers[kind], 1 };
	}
	return ruleset;
}

static const char *const list_names[KEEPER_MAX] = {
	[KEEPER_AGENT] = "claude*", [KEEPER_PERSON] = "tmux*", [KEEPER_SUPERVISOR] = "pm2", [KEEPER_MANAGER] = "cron", [KEEPER_WRAPPER] = "npm*",
};

Test(rules, the_first_row_that_fits_an_ancestor)
{
	static const struct {
		const char *sentence, *exe, *argv;
		uint32_t tgid;
		bool is_root_only, has_tty;
		enum keeper keeper;
	} ancestors[] = {
		{ "an agent", "claude", "claude -p x", 9, true, false, KEEPER_AGENT },
		{ "an agent by its script", "node", "node /usr/bin/claude", 9, true, false, KEEPER_AGENT },
		{ "an agent is one also as pid 1", "claude", "claude", 1, true, false, KEEPER_AGENT },
		{ "an agent that is written in shell, on a terminal", "bash", "bash /opt/claude", 9, true, true, KEEPER_AGENT },
		{ "its name as an argument", "vim", "vim claude", 9, true, false, KEEPER_NONE },
		{ "a person", "tmux", "tmux", 9, true, false, KEEPER_PERSON },
		{ "a shell on a terminal", "bash", "-bash", 9, true, true, KEEPER_PERSON },
		{ "the same without one runs its standard input", "bash", "-bash", 9, true, false, KEEPER_SCRIPT },
		{ "a shell on a terminal with arguments for its standard input", "bash", "bash -s x", 9, true, true, KEEPER_PERSON },
		{ "a shell on a terminal behind a dash", "bash", "bash -", 9, true, true, KEEPER_PERSON },
		{ "a supervisor", "pm2", "pm2", 9, true, false, KEEPER_SUPERVISOR },
		{ "a manager", "cron", "cron -f", 9, true, false, KEEPER_MANAGER },
		{ "a name alone makes nobody a manager", "cron", "cron -f", 9, false, false, KEEPER_NONE },
		{ "pid 1, whatever it runs from", "bash", "bash /sbin/start", 1, false, false, KEEPER_MANAGER },
		{ "a wrapper", "node", "node /usr/bin/npm run dev", 9, true, false, KEEPER_WRAPPER },
		{ "a command of a shell", "sh", "sh -c x", 9, true, false, KEEPER_WRAPPER },
		{ "also on a terminal", "bash", "bash -ic x", 9, true, true, KEEPER_WRAPPER },
		{ "a script", "sh", "sh dev.sh", 9, true, false, KEEPER_SCRIPT },
		{ "a script on a terminal", "bash", "bash dev.sh", 9, true, true, KEEPER_SCRIPT },
		{ "a shell script that has a wrapper's name", "bash", "bash /x/npm", 9, true, false, KEEPER_WRAPPER },
		{ "python's code is no shell's", "python3", "python3 -c x", 9, true, false, KEEPER_NONE },
		{ "busybox's applet is no script", "busybox", "tcpsvd 0 80", 9, true, true, KEEPER_NONE },
		{ "any other program", "make", "make", 9, true, true, KEEPER_NONE },
	};
	struct matcher matchers[KEEPER_MAX];
	struct globs globs[KEEPER_MAX];
	struct ruleset ruleset = lists_of(matchers, globs, list_names);

	for (size_t i = 0; i < sizeof(ancestors) / sizeof(ancestors[0]); i++) {
		size_t length = strlen(ancestors[i].argv) + 1;
		char *argv = strdup(ancestors[i].argv);
		struct process process;

		for (char *at = argv; (at = strchr(at, ' ')); at++)
			*at = '\0';
		process = make(ancestors[i].exe, argv, length, false);
		process.id.tgid = ancestors[i].tgid;
		process.is_exe_root_only = ancestors[i].is_root_only;
		cr_expect_eq(rules_keeper_of(&ruleset, &process, ancestors[i].has_tty), ancestors[i].keeper, "%s: %s", ancestors[i].sentence,
			     keeper_names[rules_keeper_of(&ruleset, &process, ancestors[i].has_tty)]);
		cr_expect_not(rules_may_be_keeper(&ruleset, &process, ancestors[i].has_tty), "%s: known", ancestors[i].sentence);
		free(argv);
	}
}

Test(rules, who_may_be_a_keeper_beyond_the_cut)
{
	static const struct {
		const char *sentence, *exe, *argv;
		bool has_tty, may_be;
		enum keeper keeper;
	} cut[] = {
		{ "an interpreter before its script", "node", "node --require /a/b", false, true, KEEPER_NONE },
		{ "within it", "node", "node /usr/lib/node_modules/@anthropic-ai/cl", false, true, KEEPER_NONE },
		{ "behind it", "node", "node /usr/bin/webpack --po", false, false, KEEPER_NONE },
		{ "behind one that is", "node", "node /usr/bin/claude --po", false, false, KEEPER_AGENT },
		{ "a native program", "make", "make -j VERY_LONG=", true, false, KEEPER_NONE },
		{ "a shell on a terminal, within its options", "bash", "bash --rcfile /a/b", true, true, KEEPER_NONE },
		{ "a shell's code", "bash", "bash -c while", true, false, KEEPER_WRAPPER },
		{ "a name that is the only one", NULL, "/opt/very/lo", false, true, KEEPER_NONE },
	};
	struct matcher matchers[KEEPER_MAX];
	struct globs globs[KEEPER_MAX];
	struct ruleset ruleset = lists_of(matchers, globs, list_names), empty = { 0 };

	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		size_t length = strlen(cut[i].argv);
		char *argv = strdup(cut[i].argv);
		struct process process;

		for (char *at = argv; (at = strchr(at, ' ')); at++)
			*at = '\0';
		process = make(cut[i].exe, argv, length, true);
		process.id.tgid = 9;
		cr_expect_eq(rules_keeper_of(&ruleset, &process, cut[i].has_tty), cut[i].keeper, "%s", cut[i].sentence);
		cr_expect_eq(rules_may_be_keeper(&ruleset, &process, cut[i].has_tty), cut[i].may_be, "%s", cut[i].sentence);
		cr_expect_eq(rules_may_be_keeper(&empty, &process, cut[i].has_tty), cut[i].may_be && cut[i].has_tty,
			     "%s: nobody is listed, but a shell is a person by nature", cut[i].sentence);
		free(argv);
	}
}

Test(rules, an_owner_beyond_the_cut_is_an_agent_a_person_or_a_supervisor)
{
	static const char argv[] = "node\0--require\0/a/b";

	for (int kind = KEEPER_AGENT; kind <= KEEPER_WRAPPER; kind++) {
		bool is_owner = kind == KEEPER_AGENT || kind == KEEPER_PERSON || kind == KEEPER_SUPERVISOR;
		struct matcher matchers[KEEPER_MAX];
		struct globs globs[KEEPER_MAX];
		struct ruleset all = lists_of(matchers, globs, list_names), ruleset = { 0 };
		struct process process = make("node", argv, sizeof(argv) - 1, true);

		process.id.tgid = 9;
		process.is_exe_root_only = true;
		ruleset.lists[kind] = all.lists[kind];
		cr_expect_eq(rules_may_be_keeper(&ruleset, &process, false), is_owner, "%s", keeper_names[kind]);
	}
}

Test(rules, one_name_that_fits_is_enough)
{
	static const char argv[] = "x\0a";
	const char *name = "x", *token = "ab";
	struct argv_pattern pattern = { &token, 1 };
	struct matcher matchers[] = {
		{ .name = "", .program = { &name, 1 } }, { .name = "", .program = { &name, 1 }, .argv = &pattern, .argv_count = 1 },
	};
	struct ruleset ruleset = { .lists[KEEPER_AGENT] = { matchers, 2 } };
	struct process process = make("x", argv, sizeof(argv) - 1, true);

	cr_expect_eq(matcher_names_process(&matchers[1], &process), MATCH_UNKNOWN);
	cr_expect_eq(rules_keeper_of(&ruleset, &process, false), KEEPER_AGENT, "whatever a second one would need to know");
	ruleset.lists[KEEPER_AGENT] = (struct name_list){ matchers + 1, 1 };
	cr_expect_eq(rules_keeper_of(&ruleset, &process, false), KEEPER_NONE);
	cr_expect(rules_may_be_keeper(&ruleset, &process, false));
}

Test(rules, what_may_be_protected_is)
{
	static const char plain[] = "postgres\0-D\0/var/lib/pg", temporary[] = "postgres\0-D\0/tmp/x", other[] = "redis-server\0-x";
	const char *program = "postgres", *without = "/tmp/*";
	struct matcher protections[2] = { { .name = "none", .program = { &without, 1 } }, { .name = "db", .program = { &program, 1 }, .without = { &without, 1 } } };
	struct ruleset ruleset = { .protections = protections, .protection_count = 2 };
	struct process process = make("postgres", plain, sizeof(plain), false);

	cr_assert_eq(rules_protection_of(&ruleset, &process), &protections[1]);
	process = make("postgres", temporary, sizeof(temporary), false);
	cr_expect_null(rules_protection_of(&ruleset, &process));
	process = make("postgres", plain, sizeof(plain) - 1, true);
	cr_expect_eq(rules_protection_of(&ruleset, &process), &protections[1], "what takes the protection away may lie beyond, and may not");
	process = make("postgres", temporary, sizeof(temporary) - 1, true);
	cr_expect_null(rules_protection_of(&ruleset, &process), "it is there already");
	process = make("redis-server", other, sizeof(other) - 1, true);
	cr_expect_null(rules_protection_of(&ruleset, &process));
}

Test(rules, every_name_is_there)
{
	for (int i = 0; i < RULE_ORPHAN_MAX; i++)
		cr_expect(rule_orphan_names[i] && *rule_orphan_names[i]);
	for (int i = 0; i < RULE_CHOICE_MAX; i++)
		cr_expect(rule_choice_names[i] && *rule_choice_names[i]);
	for (int i = 0; i < RULE_ACTION_MAX; i++)
		cr_expect(rule_action_names[i] && *rule_action_names[i]);
	for (int i = 0; i < KEEPER_MAX; i++)
		cr_expect(keeper_names[i] && *keeper_names[i]);
}

/* The same answer by trying everything: short patterns and argvs of two letters, cut and whole. */
static enum match try_everything(const char *pattern, const char *tokens, bool is_cut)
{
	if (!*pattern)
		return MATCH_YES;
	if (*pattern == '.') {
		enum match best = try_everything(pattern + 1, tokens, is_cut), further = MATCH_NO;

		if (*tokens)
			further = try_everything(pattern, tokens + 1, is_cut);
		else if (is_cut)
			further = MATCH_UNKNOWN;
		return best == MATCH_YES || further == MATCH_YES ? MATCH_YES : best == MATCH_UNKNOWN || further == MATCH_UNKNOWN ? MATCH_UNKNOWN : MATCH_NO;
	}
	if (!*tokens)
		return is_cut ? MATCH_UNKNOWN : MATCH_NO;
	return *pattern == *tokens ? try_everything(pattern + 1, tokens + 1, is_cut) : MATCH_NO;
}

static void compare(const char *pattern, size_t pattern_length, unsigned argv_bits)
{
	char text[32] = "", tokens[8] = "", argv[16] = "x";
	size_t length = 2;

	for (size_t i = 0; i < pattern_length; i++) {
		strcat(text, i ? " " : "");
		strcat(text, pattern[i] == '.' ? "..." : pattern[i] == 'a' ? "a" : "b");
	}
	for (unsigned i = 0, bits = argv_bits; bits > 1; i++, bits >>= 1, length += 2)
		argv[length] = tokens[i] = "ab"[bits & 1];
	for (int is_cut = 0; is_cut < 2; is_cut++) {
		struct built *built = build("x", NULL, text, NULL);
		struct process process = make("x", argv, length, is_cut);

		cr_expect_eq(matcher_fits_process(&built->matcher, &process), try_everything(pattern, tokens, is_cut), "%s in %s%s", text, tokens,
			     is_cut ? ", cut" : "");
		free(built);
	}
}

Test(rules, greedy_finds_what_trying_everything_finds)
{
	unsigned patterns = 1;

	for (size_t length = 1; length <= 5; length++) {
		patterns *= 3;
		for (unsigned number = 0; number < patterns; number++) {
			char pattern[6] = "";
			unsigned rest = number;

			for (size_t i = 0; i < length; i++, rest /= 3)
				pattern[i] = "ab."[rest % 3];
			/* Behind the highest bit one bit a token: none to six of them. */
			for (unsigned argv_bits = 1; argv_bits < 128; argv_bits++)
				compare(pattern, length, argv_bits);
		}
	}
}
