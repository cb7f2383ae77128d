/* SPDX-License-Identifier: GPL-2.0-only */
/* The config file: what is accepted and what it means, what is refused and where, and that what `check` prints reads back the same. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../../user/judge/duration.h"
#include "../../user/observe/config.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void free_config(struct config **config)
{
	config_free(*config);
}

static void free_text(char **text)
{
	free(*text);
}

#define AUTO_CONFIG __attribute__((cleanup(free_config))) struct config *
#define AUTO_TEXT __attribute__((cleanup(free_text))) char *

static struct config *parse_bytes(const char *text, size_t length)
{
	struct failure failure = { 0 };
	struct config *config = NULL;
	int err = config_parse("test.conf", text, length, &config, &failure);

	cr_assert(err == 0, "%s", failure.text);
	return config;
}

static struct config *parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

extern const char _binary_listenreap_conf_start[], _binary_listenreap_conf_end[];

static struct config *parse_shipped(void)
{
	return parse_bytes(_binary_listenreap_conf_start, (size_t)(_binary_listenreap_conf_end - _binary_listenreap_conf_start));
}

static char *print(const struct config *config)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	cr_assert(out != NULL);
	config_print(config, out);
	fclose(out);
	return text;
}

static const struct rule *only_rule(const struct config *config)
{
	cr_assert(config_ruleset(config)->rule_count == 1);
	return &config_ruleset(config)->rules[0];
}

static const struct matcher *find(const struct matcher *items, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(items[i].name, name) == 0)
			return &items[i];
	return NULL;
}

static const struct matcher *find_in_list(const struct config *config, enum keeper keeper, const char *name)
{
	const struct name_list *list = &config_ruleset(config)->lists[keeper];

	return find(list->items, list->count, name);
}

static bool has_glob(const struct globs *globs, const char *glob)
{
	for (size_t i = 0; i < globs->count; i++)
		if (strcmp(globs->items[i], glob) == 0)
			return true;
	return false;
}

/* ---- refused */

struct refusal {
	const char *what, *text, *message;
};

static const struct refusal refusals[] = {
	{ "unknown section, a near one known", "[listenreap]\n[agent]\n", "test.conf:2: unknown section [agent]; did you mean [agents]?" },
	{ "unknown section that is empty and last", "[rule a]\nargv = x\n\n[defaults]\n[bogus-section]", "test.conf:5: unknown section [bogus-section]" },
	{ "unknown section, one with a name near", "[rules x]\n", "test.conf:1: unknown section [rules]; did you mean [rule NAME]?" },
	{ "empty section name", "[]\n", "test.conf:1: unknown section []" },
	{ "sections are case sensitive", "[Rule x]\nargv = y\n", "test.conf:1: unknown section [Rule]; did you mean [rule NAME]?" },
	{ "unknown key, a near one known", "[defaults]\nstale-afer = 5m\n", "test.conf:2: unknown key \"stale-afer\" in [defaults]; did you mean stale-after?" },
	{ "unknown key, none near", "[rule a]\nargv = x\nfrobnicate = 1\n", "test.conf:3: unknown key \"frobnicate\" in [rule a]; there are: program" },
	{ "key in the wrong section", "[rule a]\nargv = x\nmode = observe\n", "test.conf:3: mode does not belong into [rule a]" },
	{ "key in a plain list that needs a name", "[wrappers]\nargv = run ...\n", "test.conf:2: argv stands only in a named section; write [wrappers NAME]" },
	{ "condition in a plain protect", "[protect]\nprogram = x\n", "test.conf:2: program stands only in a named section; write [protect NAME]" },
	{ "boot elsewhere", "[agents]\nboot = 1m\n", "test.conf:2: boot does not belong into [agents]" },
	{ "key before any section", "# c\nmode = observe\n", "test.conf:2: \"mode\" stands before the first section" },
	{ "section name without a place for one", "[defaults x]\n", "test.conf:1: [defaults] takes no name" },
	{ "rule without a name", "[rule]\nargv = x\n", "test.conf:1: [rule] needs a name" },
	{ "rule with a blank name", "[rule   ]\nargv = x\n", "test.conf:1: [rule] needs a name" },
	{ "section name too long for inih", "[rule 12345678901234567890123456789012345678901234567]\n", "test.conf:1: the name of this section has 52 bytes; 49 are possible" },
	{ "two rules of one name", "[rule a]\nargv = x\n[rule b]\nargv = x\n[rule a]\nargv = y\n", "test.conf:5: [rule a] stands already in line 1" },
	{ "two rules of one name, spaced differently", "[rule a]\nargv = x\n[rule \t a ]\nargv = y\n", "test.conf:3: [rule a] stands already in line 1" },
	{ "two protections of one name", "[protect a]\nargv = x\n[protect a]\nargv = y\n", "test.conf:3: [protect a] stands already in line 1" },
	{ "two named lists of one name", "[agents a]\nprogram = x\n[agents a]\nprogram = y\n", "test.conf:3: [agents a] stands already in line 1" },
	{ "rule without a condition, at its header", "[rule a]\nport = 80\n\n[defaults]\n", "test.conf:1: [rule a] would match anything" },
	{ "rule without a condition, last", "[defaults]\n[rule a]\nwith = x\n", "test.conf:2: [rule a] would match anything" },
	{ "rule whose only condition is a default", "[defaults]\nprogram = x\n[rule a]\nport = 80\n", "test.conf:3: [rule a] would match anything" },
	{ "empty rule", "[rule a]\n", "test.conf:1: [rule a] would match anything" },
	{ "protection without a condition", "[protect a]\n", "test.conf:1: [protect a] would match anything" },
	{ "protection that only says without", "[protect a]\nwithout = x\n", "test.conf:1: [protect a] would match anything" },
	{ "protection that says shipped and without", "[protect a]\nshipped = no\nwithout = x\n", "test.conf:1: [protect a] would match anything" },
	{ "named list without a program", "[wrappers a]\nargv = watch ...\n", "test.conf:1: [wrappers a] would match anything; it needs program or script" },
	{ "empty named list", "[agents a]\n", "test.conf:1: [agents a] would match anything" },
	{ "the first error wins", "[defaults]\ngrace = x\nbogus = 1\n", "test.conf:2: grace: \"x\" is not a duration" },
	{ "an incomplete rule comes before what stands behind it", "[rule a]\n[bogus]\n", "test.conf:1: [rule a] would match" },

	{ "no value", "[defaults]\ngrace =\n", "test.conf:2: grace has no value" },
	{ "no value but a comment", "[defaults]\ngrace = # ten seconds\n", "test.conf:2: grace has no value" },
	{ "no equals sign", "[defaults]\ngrace\n", "test.conf:2: not a `key = value`" },
	{ "a colon for an equals sign", "[defaults]\ngrace: 10s\n", "test.conf:2: not a `key = value`" },
	{ "a colon before the equals sign", "[defaults]\ngrace:10s = 3\n", "test.conf:2: a : stands in the key" },
	{ "no key", "[defaults]\n= 10s\n", "test.conf:2: no key stands before the =" },
	{ "section without a bracket", "[defaults\n", "test.conf:1: a section's ] is missing" },
	{ "text behind a section", "[defaults] x = y\n", "test.conf:1: something stands behind the section's ]" },
	{ "hash right behind a section", "[defaults]# x\n", "test.conf:1: something stands behind the section's ]" },
	{ "continuation by indentation", "[rule a]\nargv = x\n\tand y\n", "test.conf:3: not a `key = value`" },
	{ "continuation by backslash", "[rule a]\nprogram = x | \\\n y\n", "test.conf:2: a line does not go on with the next" },
	{ "set twice", "[defaults]\ngrace = 1s\n\ngrace = 2s\n", "test.conf:4: grace was set already in line 2" },
	{ "set twice in a section that goes on", "[defaults]\ngrace = 1s\n[rule a]\nargv = x\n[defaults]\ngrace = 2s\n", "test.conf:6: grace was set already in line 2" },
	{ "escape character", "[defaults]\ngrace = \033[1m\n", "test.conf:2: byte 0x1b in column 9" },
	{ "carriage return within a line", "[defaults]\rgrace = 1s\n", "test.conf:1: byte 0x0d in column 11" },

	{ "bad duration", "[defaults]\nstale-after = 5 minutes\n", "test.conf:2: stale-after: \"5 minutes\" is not a duration; write it like 90s, 5m, 2h, 1d or 0" },
	{ "duration without unit", "[defaults]\nstale-after-exposed = 300\n", "test.conf:2: stale-after-exposed: \"300\" is not a duration" },
	{ "negative duration", "[defaults]\ngrace = -1s\n", "test.conf:2: grace: \"-1s\" is not a duration" },
	{ "endless duration", "[defaults]\ngrace = 36501d\n", "test.conf:2: grace: \"36501d\" is longer than 36500d" },
	{ "bad boot", "[managers]\nboot = soon\n", "test.conf:2: boot: \"soon\" is not a duration" },
	{ "bad mode", "[listenreap]\nmode = dry-run\n", "test.conf:2: mode: \"dry-run\" is not known; write enforce or observe" },
	{ "bad max-reaps", "[listenreap]\nmax-reaps = many\n", "test.conf:2: max-reaps: \"many\" is not a number" },
	{ "negative max-reaps", "[listenreap]\nmax-reaps = -1\n", "test.conf:2: max-reaps: \"-1\" is not a number" },
	{ "max-reaps too large", "[listenreap]\nmax-reaps = 99999999999999999999\n", "test.conf:2: max-reaps: \"99999999999999999999\" is not a number" },
	{ "bad orphan", "[defaults]\norphan = no\n", "test.conf:2: orphan: \"no\" is not known; write yes, parent or any" },
	{ "bad in-use", "[defaults]\nin-use = kill\n", "test.conf:2: in-use: \"kill\" is not known; write spare or reap" },
	{ "bad operator", "[defaults]\noperator = no\n", "test.conf:2: operator: \"no\" is not known; write spare or reap" },
	{ "bad action", "[defaults]\naction = reap\n", "test.conf:2: action: \"reap\" is not known; write kill or report" },
	{ "bad shipped", "[agents]\nshipped = false\n", "test.conf:2: shipped: \"false\" is not known; write no or yes" },
	{ "bad netns", "[rule a]\nargv = x\nnetns = container\n", "test.conf:3: netns: \"container\" is not known; write host or any" },
	{ "bad scope", "[rule a]\nargv = x\nscope = loopback | lan\n", "test.conf:3: scope: \"lan\" is not known; write loopback or exposed" },
	{ "bad anchor", "[rule a]\nargv = x\nanchor = wrapper\n", "test.conf:3: anchor: \"wrapper\" is not known; write other, agent, person, supervisor or manager" },
	{ "unknown signal", "[defaults]\nsignal = SIGFOO\n", "test.conf:2: signal: \"SIGFOO\" is not a signal that ends a process" },
	{ "signal that stops", "[defaults]\nsignal = 19\n", "test.conf:2: signal: \"19\" is not a signal" },
	{ "signal zero", "[defaults]\nsignal = 0\n", "test.conf:2: signal: \"0\" is not a signal" },
	{ "signal number too large", "[defaults]\nsignal = 65\n", "test.conf:2: signal: \"65\" is not a signal" },
	{ "unknown user", "[defaults]\nuser = root | no-such-user-here\n", "test.conf:2: user: there is no user \"no-such-user-here\"" },
	{ "uid of nobody at all", "[defaults]\nuser = 4294967295\n", "test.conf:2: user: there is no user \"4294967295\"" },
	{ "port zero", "[rule a]\nargv = x\nport = 0\n", "test.conf:3: port: \"0\" is not a port; write 8000 or 8000-8999" },
	{ "port too large", "[rule a]\nargv = x\nport = 80 | 65536\n", "test.conf:3: port: \"65536\" is not a port" },
	{ "ports backwards", "[rule a]\nargv = x\nport = 9000-8000\n", "test.conf:3: port: \"9000-8000\" is not a port" },
	{ "ports without end", "[rule a]\nargv = x\nport = 9000-\n", "test.conf:3: port: \"9000-\" is not a port" },
	{ "service for a port", "[rule a]\nargv = x\nport = http\n", "test.conf:3: port: \"http\" is not a port" },
	{ "env without a name", "[rule a]\nenv = =x\n", "test.conf:2: env: \"=x\" names no variable" },
	{ "empty alternative", "[rule a]\nprogram = x || y\n", "test.conf:2: program: an alternative is empty" },
	{ "empty first alternative", "[rule a]\nprogram = | y\n", "test.conf:2: program: an alternative is empty" },
	{ "empty last alternative", "[rule a]\nprogram = x |\n", "test.conf:2: program: nothing stands behind the last |" },
	{ "quoted nothing for a program", "[rule a]\nprogram = \"\"\n", "test.conf:2: program: an alternative is empty" },
	{ "blank inside an alternative", "[rule a]\nprogram = python3 node\n", "test.conf:2: program: white space inside \"python3 node\"; separate alternatives by |" },
	{ "path for a program", "[rule a]\nprogram = /usr/bin/python3\n", "test.conf:2: program: \"/usr/bin/python3\" is a path, but only the basename is compared; write \"python3\"" },
	{ "glob that ends in a backslash", "[rule a]\nprogram = x\\ | y\n", "test.conf:2: program: \"x\\\" ends in a backslash" },
	{ "open quote", "[rule a]\nargv = -c 'x y\n", "test.conf:2: argv: a ' is not closed" },
	{ "alternatives in argv", "[rule a]\nargv = -m http.server | -mhttp.server\n", "test.conf:2: argv: tokens have no |; an alternative is another argv line" },
	{ "alternatives in with", "[rule a]\nargv = x\nwith = --a | --b\n", "test.conf:3: with: tokens have no |" },
};

Test(config, refuses)
{
	for (size_t i = 0; i < COUNT_OF(refusals); i++) {
		const struct refusal *row = &refusals[i];
		struct failure failure = { 0 };
		AUTO_CONFIG config = NULL;
		int err = config_parse("test.conf", row->text, strlen(row->text), &config, &failure);

		cr_expect(err == -EINVAL, "%s: not refused", row->what);
		cr_expect(failure.err == err, "%s", row->what);
		cr_expect(config == NULL, "%s: the output was touched", row->what);
		cr_expect(strncmp(failure.text, row->message, strlen(row->message)) == 0, "%s: \"%s\"", row->what, failure.text);
	}
}

Test(config, refuses_a_nul_byte_at_its_line)
{
	static const char text[] = "[defaults]\n# a comment\0 is no place for it either\n";
	struct failure failure = { 0 };
	AUTO_CONFIG config = NULL;

	cr_expect(config_parse("test.conf", text, sizeof(text) - 1, &config, &failure) == -EINVAL);
	cr_expect(strncmp(failure.text, "test.conf:2: byte 0x00 in column 12", 35) == 0, "%s", failure.text);
}

Test(config, refuses_more_rules_than_the_judge_can_number)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	struct failure failure = { 0 };
	AUTO_CONFIG config = NULL;

	for (int i = 0; i <= 4096; i++)
		fprintf(out, "[rule %d]\nargv = x\n", i);
	fclose(out);
	cr_expect(config_parse("test.conf", text, length, &config, &failure) == -EINVAL);
	cr_expect(strcmp(failure.text, "test.conf:8193: more than 4096 rules") == 0, "%s", failure.text);
	free(text);
}

/* ---- accepted */

Test(config, says_what_it_means)
{
	AUTO_CONFIG config = parse("[listenreap]\nmode = observe\nmax-reaps = 7\n"
				   "[managers]\nboot = 90s\n"
				   "[rule everything]\n"
				   "program = python3* | python\nprogram = pypy\nscript = http-server | @angular/cli\n"
				   "argv = -m http.server ...\nargv = -mhttp.server\n"
				   "with = --a --b\nwith = '--c d'\nwithout = --e\n"
				   "born-of = claude | codex\nanchor = agent | other\nuser = root | 12345\ncgroup = /user.slice/*\n"
				   "port = 8000 | 8080-8099\nscope = loopback\nnetns = any\npidns = any\nenv = CI | MODE=dev*\n"
				   "stale-after = 2h\nstale-after-exposed = 0\norphan = parent\nin-use = reap\noperator = reap\n"
				   "signal = SIGINT\ngrace = 1d\naction = report\n");
	const struct ruleset *ruleset = config_ruleset(config);
	const struct rule *rule = only_rule(config);
	const struct matcher *matcher = &rule->matcher;

	cr_expect(strcmp(config_origin(config), "test.conf") == 0);
	cr_expect(ruleset->is_observe);
	cr_expect(ruleset->max_reaps == 7);
	cr_expect(ruleset->boot_ns == 90 * NS_PER_SEC);
	cr_expect(strcmp(matcher->name, "everything") == 0);
	cr_expect(matcher->line == 6);
	cr_expect(matcher->program.count == 3);
	cr_expect(strcmp(matcher->program.items[0], "python3*") == 0);
	cr_expect(strcmp(matcher->program.items[2], "pypy") == 0);
	cr_expect(matcher->script.count == 2);
	cr_expect(matcher->argv_count == 2);
	cr_expect(matcher->argv[0].count == 3);
	cr_expect(strcmp(matcher->argv[0].tokens[2], "...") == 0);
	cr_expect(matcher->argv[1].count == 1);
	cr_expect(matcher->with.count == 3);
	cr_expect(strcmp(matcher->with.items[2], "--c d") == 0);
	cr_expect(matcher->without.count == 1);
	cr_expect(rule->born_of.count == 2);
	cr_expect(rule->anchor_kinds == (1u << KEEPER_AGENT | 1u << KEEPER_NONE));
	cr_expect(!rule->user.is_any);
	cr_expect(rule->user.count == 2 && rule->user.uids[0] == 0 && rule->user.uids[1] == 12345);
	cr_expect(has_glob(&rule->cgroup, "/user.slice/*"));
	cr_expect(rule->port_count == 2);
	cr_expect(rule->ports[0].first == 8000 && rule->ports[0].last == 8000);
	cr_expect(rule->ports[1].first == 8080 && rule->ports[1].last == 8099);
	cr_expect(rule->scopes == 1u << SCOPE_LOOPBACK);
	cr_expect(rule->any_netns && rule->any_pidns);
	cr_expect(rule->env_count == 2);
	cr_expect(strcmp(rule->env[0].name, "CI") == 0 && rule->env[0].glob == NULL);
	cr_expect(strcmp(rule->env[1].name, "MODE") == 0 && strcmp(rule->env[1].glob, "dev*") == 0);
	cr_expect(rule->stale_after_ns[SCOPE_LOOPBACK] == 7200 * NS_PER_SEC);
	cr_expect(rule->stale_after_ns[SCOPE_EXPOSED] == 0);
	cr_expect(rule->orphan == RULE_ORPHAN_PARENT);
	cr_expect(rule->in_use == RULE_REAP);
	cr_expect(rule->operator == RULE_REAP);
	cr_expect(rule->signal == SIGINT);
	cr_expect(rule->grace_ns == 86400 * NS_PER_SEC);
	cr_expect(rule->action == RULE_REPORT);
}

Test(config, reads_the_example_of_the_contract)
{
	AUTO_CONFIG config = parse("[listenreap]\n"
				   "mode = enforce            # or observe: judge and log, never signal\n"
				   "max-reaps = 32            # trees per sweep; more is a mistake in a rule: the rest is `limit`, and sweep exits 4\n"
				   "\n[defaults]                # any key of a rule\n"
				   "stale-after = 5m          # both clocks: since listen(), and since orphaned\n"
				   "orphan = yes              # yes | parent | any\n"
				   "user = *\nsignal = TERM\n"
				   "[rule python-http-server]\n"
				   "program = python3* | python | pypy3*     # glob on the basename of the executable, alternatives by |\n"
				   "argv = -m http.server                    # anchored: the first token is the interpreter's; \"...\" isn't one\n"
				   "argv = -mhttp.server                     ; another alternative\n"
				   "[protect ssh]\nprogram = sshd*\n"
				   "[agents]                  # likewise [people]\n"
				   "program = claude | codex | Runner.Worker | ...\n"
				   "[managers]\nboot = 1m                 # a job born this soon after its manager is a boot job\n"
				   "[wrappers tsx]\nscript = tsx\nargv = watch ...\n");
	const struct rule *rule = only_rule(config);

	cr_expect(rule->matcher.program.count == 3);
	cr_expect(rule->matcher.argv_count == 2);
	cr_expect(rule->matcher.argv[0].count == 2);
	cr_expect(strcmp(rule->matcher.argv[1].tokens[0], "-mhttp.server") == 0);
	cr_expect(find_in_list(config, KEEPER_WRAPPER, "tsx") != NULL);
}

struct spelling {
	const char *what, *text;
	size_t length;		/* 0: up to the NUL */
};

/* Each is the same rule: program node, argv `a`, grace 3 s. */
static const struct spelling spellings[] = {
	{ "plainly", "[rule x]\nprogram = node\nargv = a\ngrace = 3s\n", 0 },
	{ "no newline at the end", "[rule x]\nprogram = node\nargv = a\ngrace = 3s", 0 },
	{ "CRLF", "[rule x]\r\nprogram = node\r\nargv = a\r\ngrace = 3s\r\n", 0 },
	{ "byte order mark", "\xef\xbb\xbf[rule x]\nprogram = node\nargv = a\ngrace = 3s\n", 0 },
	{ "indented, blank lines, no blanks", "\n\n[rule x]  \n\tprogram=node\n  argv=a \n \n\tgrace=3s\t\n", 0 },
	{ "comments", "# x\n;[defaults]\n[rule x] ; y\nprogram = node # it's a \"comment\nargv = a\t; z\n  # grace = 4s\ngrace = 3s ;#\n", 0 },
	{ "quotes", "[rule x]\nprogram = \"node\"\nargv = 'a'\ngrace = 3s\n", 0 },
	{ "from the defaults, wherever they stand", "[rule x]\nprogram = node\nargv = a\n[defaults]\ngrace = 3s\n", 0 },
	{ "in a section that goes on", "[defaults]\nsignal = TERM\n[rule x]\nprogram = node\nargv = a\n[defaults]\ngrace = 3s\n", 0 },
};

Test(config, reads_however_it_is_spelled)
{
	for (size_t i = 0; i < COUNT_OF(spellings); i++) {
		const struct spelling *row = &spellings[i];
		AUTO_CONFIG config = parse(row->text);
		const struct rule *rule = only_rule(config);

		cr_expect(strcmp(rule->matcher.name, "x") == 0, "%s", row->what);
		cr_expect(rule->matcher.program.count == 1 && strcmp(rule->matcher.program.items[0], "node") == 0, "%s", row->what);
		cr_expect(rule->matcher.argv_count == 1 && rule->matcher.argv[0].count == 1 &&
			  strcmp(rule->matcher.argv[0].tokens[0], "a") == 0, "%s", row->what);
		cr_expect(rule->grace_ns == 3 * NS_PER_SEC, "%s", row->what);
	}
}

Test(config, keeps_what_quotes_enclose)
{
	AUTO_CONFIG config = parse("[rule x]\n"
				   "argv = -c 'import os; # not a comment' \"it's\" '\"' a#b \"|\" '' x:y=z '...' ...\n"
				   "program = 'Google Chrome' | \"a|b\" # this is\n");
	const struct matcher *matcher = &only_rule(config)->matcher;
	static const char *const tokens[] = { "-c", "import os; # not a comment", "it's", "\"", "a#b", "|", "", "x:y=z", "[.]..", "..." };

	cr_assert(matcher->argv[0].count == COUNT_OF(tokens));
	for (size_t i = 0; i < COUNT_OF(tokens); i++)
		cr_expect(strcmp(matcher->argv[0].tokens[i], tokens[i]) == 0, "%s", matcher->argv[0].tokens[i]);
	cr_assert(matcher->program.count == 2);
	cr_expect(strcmp(matcher->program.items[0], "Google Chrome") == 0);
	cr_expect(strcmp(matcher->program.items[1], "a|b") == 0);
}

Test(config, takes_lines_of_any_length)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	fputs("[rule x]\nargv =", out);
	for (int i = 0; i < 30000; i++)
		fprintf(out, " token%d", i);
	fputs("\nprogram = node # ", out);
	for (int i = 0; i < 100000; i++)
		fputc('#', out);
	fputs("\ngrace = 3s\n", out);
	fclose(out);

	AUTO_CONFIG config = parse_bytes(text, length);
	free(text);
	const struct rule *rule = only_rule(config);
	cr_assert(rule->matcher.argv[0].count == 30000);
	cr_expect(strcmp(rule->matcher.argv[0].tokens[29999], "token29999") == 0);
	cr_expect(rule->matcher.program.count == 1);
	cr_expect(rule->grace_ns == 3 * NS_PER_SEC);
}

struct signal_row {
	const char *text;
	int number;
};

Test(config, knows_signals)
{
	static const struct signal_row rows[] = {
		{ "TERM", SIGTERM }, { "INT", SIGINT }, { "HUP", SIGHUP }, { "QUIT", SIGQUIT }, { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 },
		{ "KILL", SIGKILL }, { "SIGUSR2", SIGUSR2 }, { "15", SIGTERM }, { "2", SIGINT }, { "34", 34 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[64];

		snprintf(text, sizeof(text), "[rule x]\nargv = a\nsignal = %s\n", rows[i].text);
		AUTO_CONFIG config = parse(text);
		cr_expect(only_rule(config)->signal == rows[i].number, "%s", rows[i].text);
	}
}

Test(config, takes_users_by_name)
{
	const struct passwd *root = getpwuid(0);

	if (!root)
		cr_skip_test("uid 0 has no name here");
	char text[128];
	snprintf(text, sizeof(text), "[rule x]\nargv = a\nuser = %s\nuser = 7\n[rule y]\nargv = b\nuser = 7 | *\n", root->pw_name);
	AUTO_CONFIG config = parse(text);
	const struct rule *rules = config_ruleset(config)->rules;

	cr_expect(rules[0].user.count == 2 && rules[0].user.uids[0] == 0 && rules[0].user.uids[1] == 7 && !rules[0].user.is_any);
	cr_expect(rules[1].user.is_any);
}

/* ---- defaults */

Test(config, has_defaults_without_a_word)
{
	AUTO_CONFIG config = parse("[rule x]\nargv = a\n");
	const struct ruleset *ruleset = config_ruleset(config);
	const struct rule *rule = only_rule(config);

	cr_expect(!ruleset->is_observe);
	cr_expect(ruleset->max_reaps == 32);
	cr_expect(ruleset->boot_ns == 60 * NS_PER_SEC);
	cr_expect(rule->stale_after_ns[SCOPE_LOOPBACK] == 300 * NS_PER_SEC);
	cr_expect(rule->stale_after_ns[SCOPE_EXPOSED] == 300 * NS_PER_SEC);
	cr_expect(rule->orphan == RULE_ORPHAN_YES);
	cr_expect(rule->in_use == RULE_SPARE);
	cr_expect(rule->operator == RULE_SPARE);
	cr_expect(rule->user.is_any);
	cr_expect(rule->signal == SIGTERM);
	cr_expect(rule->grace_ns == 10 * NS_PER_SEC);
	cr_expect(rule->action == RULE_KILL);
	cr_expect(!rule->any_netns && !rule->any_pidns);
	cr_expect(rule->scopes == 0 && rule->anchor_kinds == 0 && rule->port_count == 0 && rule->env_count == 0);
}

/* The two places that say what the defaults are agree. */
Test(config, has_the_defaults_that_the_shipped_file_shows)
{
	AUTO_CONFIG bare = parse("");
	AUTO_CONFIG shipped = parse_shipped();
	AUTO_TEXT bare_text = print(bare);
	AUTO_TEXT shipped_text = print(shipped);
	char *end = strstr(bare_text, "\n[protect]");
	cr_assert(end != NULL);
	cr_expect(strncmp(bare_text, shipped_text, (size_t)(end - bare_text)) == 0);
}

Test(config, gives_a_rule_what_it_does_not_say_itself)
{
	AUTO_CONFIG config = parse("[rule own]\nargv = a\ngrace = 0\nuser = 5\nwithout = x\nnetns = host\n"
				   "[rule none]\nargv = b\n"
				   "[defaults]\ngrace = 1m\nuser = 1 | 2\nwithout = y z\nnetns = any\nport = 80\n");
	const struct rule *rules = config_ruleset(config)->rules;

	cr_assert(config_ruleset(config)->rule_count == 2);
	cr_expect(rules[0].grace_ns == 0);
	cr_expect(rules[0].user.count == 1 && rules[0].user.uids[0] == 5);
	cr_expect(rules[0].matcher.without.count == 1);
	cr_expect(!rules[0].any_netns);
	cr_expect(rules[0].port_count == 1);
	cr_expect(rules[1].grace_ns == 60 * NS_PER_SEC);
	cr_expect(rules[1].user.count == 2 && !rules[1].user.is_any);
	cr_expect(rules[1].matcher.without.count == 2);
	cr_expect(rules[1].any_netns);
	cr_expect(strcmp(rules[1].matcher.name, "none") == 0 && rules[1].matcher.argv_count == 1);
}

/* A rule's `stale-after = 2h` must not leave its exposed twin at the five minutes of the defaults. */
Test(config, lets_the_exposed_clock_follow_in_its_section)
{
	AUTO_CONFIG config = parse("[rule both]\nargv = a\nstale-after = 2h\n"
				   "[rule own]\nargv = b\nstale-after = 2h\nstale-after-exposed = 1m\n"
				   "[rule exposed]\nargv = c\nstale-after-exposed = 2m\n"
				   "[rule none]\nargv = d\n"
				   "[defaults]\nstale-after = 1h\n");
	const struct rule *rules = config_ruleset(config)->rules;

	cr_expect(rules[0].stale_after_ns[SCOPE_EXPOSED] == 7200 * NS_PER_SEC);
	cr_expect(rules[1].stale_after_ns[SCOPE_EXPOSED] == 60 * NS_PER_SEC);
	cr_expect(rules[2].stale_after_ns[SCOPE_EXPOSED] == 120 * NS_PER_SEC);
	cr_expect(rules[2].stale_after_ns[SCOPE_LOOPBACK] == 3600 * NS_PER_SEC);
	cr_expect(rules[3].stale_after_ns[SCOPE_EXPOSED] == 3600 * NS_PER_SEC);
}

/* ---- lists and protections over the shipped ones */

Test(config, adds_to_the_shipped_lists)
{
	AUTO_CONFIG config = parse("[agents]\nprogram = my-agent | claude\n[agents special]\nprogram = thing\nargv = agent ...\n");
	const struct matcher *plain = find_in_list(config, KEEPER_AGENT, "");
	size_t claudes = 0;

	cr_assert(plain != NULL);
	cr_expect(has_glob(&plain->program, "my-agent"));
	cr_expect(has_glob(&plain->program, "codex"));
	for (size_t i = 0; i < plain->program.count; i++)
		claudes += strcmp(plain->program.items[i], "claude") == 0;
	cr_expect(claudes == 1);
	cr_expect(find_in_list(config, KEEPER_AGENT, "special")->line == 3);
	cr_expect(find_in_list(config, KEEPER_AGENT, "buildkite")->line == 0);
	cr_expect(has_glob(&find_in_list(config, KEEPER_PERSON, "")->program, "tmux"));
}

Test(config, drops_a_shipped_list_alone)
{
	AUTO_CONFIG config = parse("[agents]\nshipped = no\nprogram = my-agent\n");
	const struct matcher *plain = find_in_list(config, KEEPER_AGENT, "");

	cr_expect(plain->program.count == 1 && has_glob(&plain->program, "my-agent"));
	cr_expect(config_ruleset(config)->lists[KEEPER_AGENT].count == 1);
	cr_expect(config_ruleset(config)->lists[KEEPER_WRAPPER].count > 1);
	cr_expect(config_ruleset(config)->protection_count > 1);
}

Test(config, drops_the_shipped_protections)
{
	static const char *const texts[] = {
		"[protect]\nshipped = no\n[protect ssh]\nprogram = sshd*\n",
		"[protect ssh]\nprogram = sshd*\nshipped = no\n",
		"[protect ssh]\nprogram = sshd*\n[protect none-of-theirs]\nshipped = no\n",
	};

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		AUTO_CONFIG config = parse(texts[i]);

		cr_expect(config_ruleset(config)->protection_count == 1, "%s", texts[i]);
		cr_expect(strcmp(config_ruleset(config)->protections[0].name, "ssh") == 0);
		cr_expect(config_ruleset(config)->lists[KEEPER_AGENT].count > 0);
	}
}

Test(config, keeps_the_shipped_protections_beside_its_own)
{
	AUTO_CONFIG config = parse("[protect web-servers]\nprogram = mine\n[protect ssh]\nprogram = sshd*\n[protect x]\nwith = --keep-me\nshipped = yes\n");
	const struct ruleset *ruleset = config_ruleset(config);
	const struct matcher *own = find(ruleset->protections, ruleset->protection_count, "web-servers");
	const struct matcher *shipped = find(ruleset->protections, ruleset->protection_count, "web-servers (shipped)");

	cr_assert(own != NULL && shipped != NULL);
	cr_expect(own->line == 1 && shipped->line == 0);
	cr_expect(has_glob(&own->program, "mine") && has_glob(&shipped->program, "nginx"));
	cr_expect(find(ruleset->protections, ruleset->protection_count, "ssh (shipped)") == NULL, "the same twice is one");
	cr_expect(find(ruleset->protections, ruleset->protection_count, "x") != NULL);
}

Test(config, has_no_rules_but_its_own)
{
	AUTO_CONFIG config = parse("");

	cr_expect(config_ruleset(config)->rule_count == 0);
	cr_expect(config_ruleset(config)->protection_count > 0);
}

Test(config, takes_the_boot_time_of_the_shipped_file)
{
	AUTO_CONFIG config = parse("[managers]\nprogram = my-cron\n");

	cr_expect(config_ruleset(config)->boot_ns == 60 * NS_PER_SEC);
}

/* ---- printing */

static bool same_globs(const struct globs *a, const struct globs *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return true;
}

static bool same_matcher(const struct matcher *a, const struct matcher *b)
{
	if (strcmp(a->name, b->name) != 0 || !same_globs(&a->program, &b->program) || !same_globs(&a->script, &b->script) ||
	    !same_globs(&a->with, &b->with) || !same_globs(&a->without, &b->without) || a->argv_count != b->argv_count)
		return false;
	for (size_t i = 0; i < a->argv_count; i++) {
		struct globs left = { a->argv[i].tokens, a->argv[i].count }, right = { b->argv[i].tokens, b->argv[i].count };

		if (!same_globs(&left, &right))
			return false;
	}
	return true;
}

static bool same_rule(const struct rule *a, const struct rule *b)
{
	if (!same_matcher(&a->matcher, &b->matcher) || !same_globs(&a->born_of, &b->born_of) || !same_globs(&a->cgroup, &b->cgroup) ||
	    a->anchor_kinds != b->anchor_kinds || a->scopes != b->scopes || a->any_netns != b->any_netns || a->any_pidns != b->any_pidns ||
	    a->stale_after_ns[0] != b->stale_after_ns[0] || a->stale_after_ns[1] != b->stale_after_ns[1] || a->orphan != b->orphan ||
	    a->in_use != b->in_use || a->operator != b->operator || a->signal != b->signal || a->grace_ns != b->grace_ns ||
	    a->action != b->action || a->port_count != b->port_count || a->env_count != b->env_count ||
	    a->user.is_any != b->user.is_any)
		return false;
	if (!a->user.is_any && (a->user.count != b->user.count || memcmp(a->user.uids, b->user.uids, a->user.count * sizeof(*a->user.uids)) != 0))
		return false;
	for (size_t i = 0; i < a->port_count; i++)
		if (a->ports[i].first != b->ports[i].first || a->ports[i].last != b->ports[i].last)
			return false;
	for (size_t i = 0; i < a->env_count; i++) {
		const char *left = a->env[i].glob, *right = b->env[i].glob;

		if (strcmp(a->env[i].name, b->env[i].name) != 0 || !left != !right || (left && strcmp(left, right) != 0))
			return false;
	}
	return true;
}

static void expect_same_names(const struct matcher *a, size_t a_count, const struct matcher *b, size_t b_count, const char *what)
{
	cr_assert(a_count == b_count, "%s: %zu, %zu", what, a_count, b_count);
	for (size_t i = 0; i < a_count; i++) {
		const struct matcher *twin = find(b, b_count, a[i].name);

		cr_expect(twin && same_matcher(&a[i], twin), "%s %s", what, a[i].name);
	}
}

static void expect_round_trip(const struct config *config)
{
	AUTO_TEXT once = print(config);
	AUTO_CONFIG again = parse(once);
	AUTO_TEXT twice = print(again);
	const struct ruleset *a = config_ruleset(config), *b = config_ruleset(again);

	cr_expect(strcmp(once, twice) == 0, "%s\n====\n%s", once, twice);
	cr_expect(a->is_observe == b->is_observe && a->max_reaps == b->max_reaps && a->boot_ns == b->boot_ns);
	cr_assert(a->rule_count == b->rule_count);
	for (size_t i = 0; i < a->rule_count; i++)
		cr_expect(same_rule(&a->rules[i], &b->rules[i]), "%s", a->rules[i].matcher.name);
	expect_same_names(a->protections, a->protection_count, b->protections, b->protection_count, "protect");
	for (size_t i = 0; i < KEEPER_MAX; i++)
		expect_same_names(a->lists[i].items, a->lists[i].count, b->lists[i].items, b->lists[i].count, keeper_names[i]);
}

static const char *const printable[] = {
	"",
	"[listenreap]\nmode = observe\nmax-reaps = 0\n[managers]\nboot = 0\n",
	"[agents]\nshipped = no\n[people]\nshipped = no\n[supervisors]\nshipped = no\n[managers]\nshipped = no\n[wrappers]\nshipped = no\n[protect]\nshipped = no\n",
	"[protect ssh]\nprogram = other\n[protect ssh (shipped)]\nprogram = other\n[wrappers go]\nprogram = gone\nargv = * 'x y'\n",
	"[defaults]\nprogram = a\nwithout = b\nuser = 1 | 2\nstale-after = 90s\nstale-after-exposed = 1d\nsignal = 35\nnetns = any\nenv = A\nport = 1-2\n"
	"[rule x]\nscript = y\nstale-after = 3h\nstale-after-exposed = 1d\n[rule y]\nargv = z\nnetns = host\nuser = *\n[rule z]\nargv = q\nstale-after = 1h\n",
	"[rule a # b ; c]\nargv = '#' ';' a# 'x # y' \"it's\" '\"' '\"'\"'\"'\"' '' '|' '...' ... \"a\\\\\" \\\\* [!a-z]\n"
	"argv = a\nwith = 'p q' r\nwithout = '|' s\nprogram = 'a|b' | \"c d\" | e\nenv = A='x | y' | B= | C=*\nsignal = 9\n"
	"scope = exposed | loopback\nanchor = manager | other | person\nport = 1 | 65535 | 10-20\nuser = 0 | 4294967294\n"
	"cgroup = /a/* | *.scope\nborn-of = x | @y/z\norphan = any\nin-use = reap\noperator = reap\ngrace = 0\naction = report\n",
};

Test(config, prints_what_reads_back_the_same)
{
	for (size_t i = 0; i < COUNT_OF(printable); i++) {
		AUTO_CONFIG config = parse(printable[i]);

		expect_round_trip(config);
	}
}

Test(config, prints_many_alternatives_on_many_lines)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	fputs("[rule x]\nprogram = p0", out);
	for (int i = 1; i < 500; i++)
		fprintf(out, " | program-%d", i);
	fputs("\nport = 1", out);
	for (int i = 2; i < 500; i++)
		fprintf(out, " | %d", i);
	fputs("\n", out);
	fclose(out);

	AUTO_CONFIG config = parse_bytes(text, length);
	free(text);
	expect_round_trip(config);
	AUTO_TEXT printed = print(config);
	for (const char *line = printed; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		cr_expect(strcspn(line, "\n") <= 190);
}

Test(config, prints_the_shipped_file_so_that_it_reads_back)
{
	AUTO_CONFIG config = parse_shipped();

	cr_assert(config_ruleset(config)->rule_count > 26);
	expect_round_trip(config);
}

/* Who copies the shipped file to /etc has nothing twice. */
Test(config, takes_a_copy_of_the_shipped_file_for_the_same)
{
	struct failure failure = { 0 };
	AUTO_CONFIG copy = parse_shipped();
	AUTO_CONFIG built_in = NULL;

	if (access(CONFIG_DEFAULT, F_OK) == 0)
		cr_skip_test("there is a " CONFIG_DEFAULT " here");
	cr_assert(config_load(NULL, &built_in, &failure) == 0, "%s", failure.text);
	cr_expect(strcmp(config_origin(built_in), "built-in") == 0);
	AUTO_TEXT copy_text = print(copy);
	AUTO_TEXT built_in_text = print(built_in);
	cr_expect(strcmp(copy_text, built_in_text) == 0);
}

/* ---- files */

struct file {
	char directory[64];
	char path[96];
};

static void make_file(struct file *file, const char *text, mode_t mode)
{
	strcpy(file->directory, "/tmp/listenreap-config.XXXXXX");
	cr_assert(mkdtemp(file->directory) != NULL);
	snprintf(file->path, sizeof(file->path), "%s/x.conf", file->directory);

	int fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	cr_assert(fd >= 0);
	cr_assert(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	cr_assert(fchmod(fd, mode) == 0);
	close(fd);
}

static void remove_file(struct file *file)
{
	unlink(file->path);
	rmdir(file->directory);
}

static void expect_load(const char *path, int wanted, const char *message)
{
	struct failure failure = { 0 };
	AUTO_CONFIG config = NULL;
	int err = config_load(path, &config, &failure);

	cr_expect(err == wanted, "%s: %d %s", path, err, failure.text);
	cr_expect(!message || strstr(failure.text, message) != NULL, "\"%s\" lacks \"%s\"", failure.text, message);
	if (err)
		cr_expect(strncmp(failure.text, path, strlen(path)) == 0, "%s", failure.text);
}

Test(config, loads_a_file_that_only_its_owner_can_write)
{
	struct file file;

	make_file(&file, "[rule x]\nargv = a\n", 0644);
	expect_load(file.path, 0, NULL);
	remove_file(&file);
}

Test(config, names_file_and_line_of_an_error)
{
	struct file file;

	make_file(&file, "[rule x]\nargv = a\nbogus = 1\n", 0600);
	expect_load(file.path, -EINVAL, "x.conf:3: unknown key \"bogus\"");
	remove_file(&file);
}

Test(config, refuses_a_file_that_everybody_can_write)
{
	struct file file;

	make_file(&file, "", 0646);
	expect_load(file.path, -EPERM, ":0: writable by everybody (mode 0646)");
	remove_file(&file);
}

Test(config, asks_which_group_can_write)
{
	struct file file;

	if (geteuid() != 0)
		cr_skip_test("needs root to give a file to a group");
	make_file(&file, "", 0664);
	cr_assert(chown(file.path, 0, 12345) == 0);
	expect_load(file.path, -EPERM, ":0: writable by group 12345");
	cr_assert(chown(file.path, 0, 0) == 0);
	expect_load(file.path, 0, NULL);
	remove_file(&file);
}

Test(config, asks_who_owns_it)
{
	struct file file;

	if (geteuid() != 0)
		cr_skip_test("needs root to give a file away");
	make_file(&file, "", 0644);
	cr_assert(chown(file.path, 12345, 0) == 0);
	expect_load(file.path, -EPERM, ":0: owned by uid 12345");
	remove_file(&file);
}

Test(config, refuses_what_is_no_file)
{
	struct file file;

	make_file(&file, "", 0644);
	expect_load(file.directory, -EINVAL, ":0: not a regular file");
	unlink(file.path);
	cr_assert(mkfifo(file.path, 0600) == 0);
	expect_load(file.path, -EINVAL, ":0: not a regular file");
	expect_load("/dev/null", -EINVAL, ":0: not a regular file");
	remove_file(&file);
	expect_load(file.path, -ENOENT, ":0: cannot be opened: No such file");
}

Test(config, refuses_a_file_beyond_reason)
{
	struct file file;

	make_file(&file, "", 0600);
	cr_assert(truncate(file.path, 1024 * 1024 + 1) == 0);
	expect_load(file.path, -EFBIG, ":0: longer than 1048576 bytes");
	remove_file(&file);
}
