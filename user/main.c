/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <getopt.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "command/command.h"

enum flag {
	FLAG_PIN_DIR, FLAG_CONFIG, FLAG_HELP, FLAG_VERSION, FLAG_JSON, FLAG_DRY_RUN, FLAG_NO_HEADER, FLAG_PORT,
	FLAG_PID, FLAG_USER, FLAG_SCOPE, FLAG_ORPHAN, FLAG_VERDICT, FLAG_FOR, FLAG_LIST, FLAG_REMOVE,
	FLAG_LOG_FORMAT, FLAG_WATCH,
	FLAG_MAX
};

#define BIT(flag) (1u << (flag))
#define EVERYWHERE (BIT(FLAG_PIN_DIR) | BIT(FLAG_CONFIG) | BIT(FLAG_HELP))
#define FILTERS \
	(BIT(FLAG_PORT) | BIT(FLAG_PID) | BIT(FLAG_USER) | BIT(FLAG_SCOPE) | BIT(FLAG_ORPHAN) | BIT(FLAG_VERDICT))

static const struct {
	const char *name, *value, *help;
} flag_texts[FLAG_MAX] = {
	[FLAG_PIN_DIR] = { "pin-dir", "DIR", "where the pins are (" PIN_DIR_DEFAULT ")" },
	[FLAG_CONFIG] = { "config", "FILE", "config file (" CONFIG_DEFAULT ", else built in)" },
	[FLAG_HELP] = { "help", NULL, "this text" },
	[FLAG_VERSION] = { "version", NULL, "the version" },
	[FLAG_JSON] = { "json", NULL, "as JSON" },
	[FLAG_DRY_RUN] = { "dry-run", NULL, "judge and report, signal nobody" },
	[FLAG_NO_HEADER] = { "no-header", NULL, "no heading (also -H)" },
	[FLAG_PORT] = { "port", "N", "only this port" },
	[FLAG_PID] = { "pid", "N", "only what this process holds" },
	[FLAG_USER] = { "user", "U", "only what this user holds" },
	[FLAG_SCOPE] = { "scope", "S", "only loopback or exposed" },
	[FLAG_ORPHAN] = { "orphan", NULL, "only orphans" },
	[FLAG_VERDICT] = { "verdict", "V", "only reap, wait or spare" },
	[FLAG_FOR] = { "for", "TIME", "for this long (2h), else until reboot" },
	[FLAG_LIST] = { "list", NULL, "what is kept" },
	[FLAG_REMOVE] = { "remove", NULL, "keep it no longer" },
	[FLAG_WATCH] = { "watch", NULL, "redraw on change, until q" },
	[FLAG_LOG_FORMAT] = { "log-format", "F", "text or json, on standard error" },
};

static const struct command {
	const char *name, *operand, *help;
	unsigned flags;
	bool needs_operand;
	int (*run)(const struct invocation *);
} commands[] = {
	{ "status", NULL, "show the listeners with their verdicts", BIT(FLAG_JSON) | BIT(FLAG_NO_HEADER) | BIT(FLAG_WATCH) | FILTERS, false, command_status },
	{ "explain", "PID|:PORT", "every check of every rule for a listener, and what decided", BIT(FLAG_JSON), true, command_explain },
	{ "sweep", NULL, "judge once, reap what is due, wait for the outcome", BIT(FLAG_JSON) | BIT(FLAG_DRY_RUN), false, command_sweep },
	{ "run", NULL, "sweep for ever, each time something can become due", BIT(FLAG_DRY_RUN) | BIT(FLAG_LOG_FORMAT), false, command_run },
	{ "keep", ":PORT", "spare a listener by hand until reboot", BIT(FLAG_FOR) | BIT(FLAG_LIST) | BIT(FLAG_REMOVE), false, command_keep },
	{ "watch", NULL, "what opens, closes and is orphaned, as it happens", BIT(FLAG_JSON), false, command_watch },
	{ "metrics", NULL, "numbers for Prometheus' textfile collector", 0, false, command_metrics },
	{ "load", NULL, "start tracking", 0, false, command_load },
	{ "unload", NULL, "stop tracking", 0, false, command_unload },
	{ "check", "[FILE]", "validate the config and print the effective rules", 0, false, command_check },
	{ "doctor", NULL, "what this kernel and these privileges allow", 0, false, command_doctor },
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static int print_usage(void)
{
	puts("listenreap stops listening servers that nobody owns any more, and nothing else.\n\nusage: listenreap COMMAND [OPTION...]\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		printf("  %-8s %-10s %s\n", commands[i].name, commands[i].operand ? commands[i].operand : "", commands[i].help);
	puts("\n`listenreap COMMAND --help` lists a command's options; `listenreap --version` says the version.\n"
	     "Exit codes: 0 done, 1 it failed, 2 usage or config, 3 cannot observe here, 4 a due listener is still alive.");
	return EXIT_DONE;
}

static int print_command_usage(const struct command *command)
{
	printf("usage: listenreap %s%s%s [OPTION...]\n%s\n\n", command->name, command->operand ? " " : "",
	       command->operand ? command->operand : "", command->help);
	for (int i = 0; i < FLAG_MAX; i++) {
		char option[32];

		if (!((command->flags | EVERYWHERE) & BIT(i)))
			continue;
		snprintf(option, sizeof(option), "--%s%s%s", flag_texts[i].name, flag_texts[i].value ? " " : "",
			 flag_texts[i].value ? flag_texts[i].value : "");
		printf("  %-18s %s\n", option, flag_texts[i].help);
	}
	return EXIT_DONE;
}

/* Edit distance, to guess what was meant; words longer than the row never are. */
static size_t distance(const char *a, const char *b)
{
	size_t row[32], length = strlen(b);

	if (length >= sizeof(row) / sizeof(row[0]))
		return SIZE_MAX;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);

			best = above + 1 < best ? above + 1 : best;
			row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			diagonal = above;
		}
	}
	return row[length];
}

static const struct command *find_command(const char *name)
{
	const struct command *nearest = NULL;
	size_t nearest_distance = 3;	/* further away it is not a typing error */

	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		size_t away = distance(name, commands[i].name);

		if (away == 0)
			return &commands[i];
		if (away < nearest_distance) {
			nearest_distance = away;
			nearest = &commands[i];
		}
	}
	if (nearest)
		command_say("there is no command `%s`; did you mean `%s`?", name, nearest->name);
	else
		command_say("there is no command `%s`; `listenreap --help` lists them", name);
	return NULL;
}

static bool parse_number(const char *text, unsigned long max, long *ret)
{
	unsigned long number;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoul(text, &end, 10);
	if (*end || errno || number > max)
		return false;
	*ret = (long)number;
	return true;
}

static bool parse_name(const char *text, const char *const *names, int count, int *ret)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(text, names[i]) == 0) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static bool parse_user(const char *text, long *ret)
{
	const struct passwd *user;

	if (parse_number(text, UINT32_MAX, ret))
		return true;
	user = getpwnam(text);
	if (user)
		*ret = user->pw_uid;
	return user != NULL;
}

/* NULL, or what the value should be. */
static const char *apply_flag(struct invocation *invocation, enum flag flag, const char *value)
{
	struct filter *filter = &invocation->filter;

	switch (flag) {
	case FLAG_PIN_DIR: invocation->pin_dir = value; return value[0] == '/' ? NULL : "an absolute directory";
	case FLAG_CONFIG: invocation->config_path = value; return NULL;
	case FLAG_JSON: invocation->is_json = true; return NULL;
	case FLAG_DRY_RUN: invocation->is_dry_run = true; return NULL;
	case FLAG_NO_HEADER: invocation->has_no_header = true; return NULL;
	case FLAG_ORPHAN: filter->is_orphan = true; return NULL;
	case FLAG_WATCH: invocation->is_watching = true; return NULL;
	case FLAG_LIST: invocation->is_list = true; return NULL;
	case FLAG_REMOVE: invocation->is_remove = true; return NULL;
	case FLAG_PORT: return parse_number(value, UINT16_MAX, &filter->port) ? NULL : "a port, 0 to 65535";
	case FLAG_PID: return parse_number(value, INT32_MAX, &filter->pid) ? NULL : "a process id";
	case FLAG_USER: return parse_user(value, &filter->uid) ? NULL : "a user name or number";
	case FLAG_SCOPE: return parse_name(value, scope_names, SCOPE_MAX, &filter->scope) ? NULL : "loopback or exposed";
	case FLAG_VERDICT: return parse_name(value, verdict_names, VERDICT_MAX, &filter->verdict) ? NULL : "reap, wait or spare";
	case FLAG_LOG_FORMAT:
		invocation->is_log_json = strcmp(value, "json") == 0;
		return invocation->is_log_json || strcmp(value, "text") == 0 ? NULL : "text or json";
	case FLAG_FOR:
		/* 0 would mean until reboot. */
		return duration_parse(value, &invocation->for_ns) == 0 && invocation->for_ns > 0 ? NULL : "a time as 90s, 5m, 2h or 1d";
	default: return NULL;
	}
}

/* What the words on the command line say, options anywhere among them. */
struct words {
	unsigned given;		/* BIT(enum flag) */
	const char *command, *operand, *surplus;
};

static int parse_words(int argc, char **argv, struct words *ret, struct invocation *invocation)
{
	struct option options[FLAG_MAX + 1] = { 0 };
	struct words words = { 0 };
	int found;

	for (int i = 0; i < FLAG_MAX; i++)
		options[i] = (struct option){
			.name = flag_texts[i].name, .has_arg = flag_texts[i].value ? required_argument : no_argument, .val = i + 1,
		};
	opterr = 0;
	while ((found = getopt_long(argc, argv, ":Hh", options, NULL)) != -1) {
		enum flag flag = found == 'H' ? FLAG_NO_HEADER : found == 'h' ? FLAG_HELP : (enum flag)(found - 1);
		const char *wanted;

		if (found == '?' || found == ':') {
			command_say("%s `%s`; see `listenreap --help`",
				    found == ':' ? "a value is missing behind" : "there is no option", argv[optind - 1]);
			return EXIT_USAGE;
		}
		words.given |= BIT(flag);
		wanted = apply_flag(invocation, flag, optarg);
		if (wanted) {
			command_say("--%s wants %s, not `%s`", flag_texts[flag].name, wanted, optarg);
			return EXIT_USAGE;
		}
	}
	words.command = optind < argc ? argv[optind++] : NULL;
	words.operand = optind < argc ? argv[optind++] : NULL;
	words.surplus = optind < argc ? argv[optind] : NULL;
	*ret = words;
	return EXIT_DONE;
}

/* Does the command take what was given? */
static int check_words(const struct command *command, const struct words *words)
{
	unsigned refused = words->given & ~(command->flags | EVERYWHERE);

	if (refused) {
		command_say("%s: it takes no --%s; see `listenreap %s --help`", command->name, flag_texts[ffs((int)refused) - 1].name,
			    command->name);
		return EXIT_USAGE;
	}
	if (!words->operand && command->needs_operand) {
		command_say("%s: it wants %s", command->name, command->operand);
		return EXIT_USAGE;
	}
	if (words->surplus || (words->operand && !command->operand)) {
		command_say("%s: `%s` is one too many; see `listenreap %s --help`", command->name,
			    words->surplus ? words->surplus : words->operand, command->name);
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

static int run_words(const struct words *words, struct invocation *invocation)
{
	const struct command *command;
	int code;

	if (words->given & BIT(FLAG_VERSION)) {
		puts("listenreap " VERSION);
		return EXIT_DONE;
	}
	if (!words->command) {
		if (words->given & BIT(FLAG_HELP))
			return print_usage();
		command_say("a command is missing; `listenreap --help` lists them");
		return EXIT_USAGE;
	}
	command = find_command(words->command);
	if (!command)
		return EXIT_USAGE;
	if (words->given & BIT(FLAG_HELP))
		return print_command_usage(command);
	code = check_words(command, words);
	invocation->operand = words->operand;
	return code == EXIT_DONE ? command->run(invocation) : code;
}

/* stdout is data: a full disk or a closed pipe must not look like success. */
static int finish(int code)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		command_say("cannot write the output: %s", strerror(errno));
		return code == EXIT_DONE ? EXIT_FAILED : code;
	}
	return code;
}

int main(int argc, char **argv)
{
	struct invocation invocation = {
		.pin_dir = PIN_DIR_DEFAULT, .filter = { .port = -1, .pid = -1, .uid = -1, .scope = -1, .verdict = -1 },
	};
	struct words words;
	int code;

	code = parse_words(argc, argv, &words, &invocation);
	return finish(code == EXIT_DONE ? run_words(&words, &invocation) : code);
}
