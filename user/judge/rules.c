/* SPDX-License-Identifier: GPL-2.0-only */
#include <fnmatch.h>
#include <string.h>
#include "rules.h"

const char *const rule_orphan_names[RULE_ORPHAN_MAX] = {
	[RULE_ORPHAN_YES] = "yes", [RULE_ORPHAN_PARENT] = "parent", [RULE_ORPHAN_ANY] = "any",
};
const char *const rule_choice_names[RULE_CHOICE_MAX] = { [RULE_SPARE] = "spare", [RULE_REAP] = "reap" };
const char *const rule_action_names[RULE_ACTION_MAX] = { [RULE_KILL] = "kill", [RULE_REPORT] = "report" };
const char *const keeper_names[KEEPER_MAX] = {
	[KEEPER_NONE] = "other", [KEEPER_AGENT] = "agent", [KEEPER_PERSON] = "person", [KEEPER_SUPERVISOR] = "supervisor",
	[KEEPER_MANAGER] = "manager", [KEEPER_WRAPPER] = "wrapper", [KEEPER_SCRIPT] = "script",
};

#define ANY_TOKENS "..."

static bool globs_match(const struct globs *globs, struct span span)
{
	/* Most globs begin with a letter and most names with another: a process meets some hundreds of them. */
	for (size_t i = 0; i < globs->count && span.length > 0; i++) {
		char first = globs->items[i][0];

		if ((first == span.start[0] || first == '*' || first == '?' || first == '[' || first == '\\') && span_matches(span, globs->items[i]))
			return true;
	}
	return false;
}

bool globs_name_program(const struct globs *globs, const struct program *program)
{
	struct span facets[7];
	size_t count = program_facets(program, facets);

	for (size_t i = 0; i < count; i++)
		if (globs_match(globs, facets[i]))
			return true;
	return false;
}

/* Three values: what is not known stays not known unless the other side decides. */
static enum match both(enum match a, enum match b)
{
	if (a == MATCH_NO || b == MATCH_NO)
		return MATCH_NO;
	return a == MATCH_YES && b == MATCH_YES ? MATCH_YES : MATCH_UNKNOWN;
}

/* Only the beginning of the token is known: it decides when the glob begins otherwise, or ends in `*` and matches already. */
static enum match beginning_matches(const char *token, const char *glob)
{
	size_t literal = strcspn(glob, "*?[\\"), known = strlen(token), length = strlen(glob);

	if (strncmp(token, glob, known < literal ? known : literal) != 0 || (!glob[literal] && known > literal))
		return MATCH_NO;
	if (length > 0 && glob[length - 1] == '*' && (length == 1 || glob[length - 2] != '\\') && fnmatch(glob, token, 0) == 0)
		return MATCH_YES;
	return MATCH_UNKNOWN;
}

static enum match token_matches(const struct argv *argv, const char *token, const char *glob)
{
	if (argv_is_partial(argv, token))
		return beginning_matches(token, glob);
	return fnmatch(glob, token, 0) == 0 ? MATCH_YES : MATCH_NO;
}

/*
 * The pattern is a beginning: `-m http.server` also names `-m http.server 8000` (contract.md's example).
 * Greedy with one point to go back to, as for globs of characters: each `...` takes as few tokens as it can, and only the last one met
 * ever has to take more. Time is tokens times pattern.
 */
static enum match pattern_matches(const struct argv_pattern *pattern, const struct argv *argv, const char *first)
{
	const char *token = first, *retry_token = NULL;
	size_t at = 0, retry_at = 0;
	bool has_retry = false;

	for (;;) {
		enum match match;

		if (at == pattern->count)
			return MATCH_YES;
		if (strcmp(pattern->tokens[at], ANY_TOKENS) == 0) {
			at++;
			has_retry = true;
			retry_at = at;
			retry_token = token;
			continue;
		}
		if (!token)
			return argv->is_cut ? MATCH_UNKNOWN : MATCH_NO;
		match = token_matches(argv, token, pattern->tokens[at]);
		if (match == MATCH_UNKNOWN)
			return MATCH_UNKNOWN;
		if (match == MATCH_YES) {
			at++;
			token = argv_next(argv, token);
			continue;
		}
		if (!has_retry)
			return MATCH_NO;
		retry_token = argv_next(argv, retry_token);
		token = retry_token;
		at = retry_at;
	}
}

static enum match argv_matches(const struct matcher *matcher, const struct process *process)
{
	const struct argv *argv = &process->argv;
	enum match best = MATCH_NO;
	const char *first;

	if (matcher->argv_count == 0)
		return MATCH_YES;
	if (!argv->is_known)
		return MATCH_UNKNOWN;
	first = matcher->script.count > 0 ? program_script_argument(&process->program, argv) :
					    program_first_argument(&process->program, argv);
	for (size_t i = 0; i < matcher->argv_count && best != MATCH_YES; i++) {
		enum match match = pattern_matches(&matcher->argv[i], argv, first);

		if (match != MATCH_NO)
			best = match;
	}
	return best;
}

/* Does some token match? */
static enum match any_token_matches(const struct argv *argv, const char *glob)
{
	if (!argv->is_known)
		return MATCH_UNKNOWN;
	for (const char *token = argv_next(argv, NULL); token; token = argv_next(argv, token))
		if (token_matches(argv, token, glob) == MATCH_YES)
			return MATCH_YES;
	return argv->is_cut ? MATCH_UNKNOWN : MATCH_NO;
}

static enum match tokens_match(const struct matcher *matcher, const struct process *process)
{
	enum match match = MATCH_YES;

	for (size_t i = 0; i < matcher->with.count; i++)
		match = both(match, any_token_matches(&process->argv, matcher->with.items[i]));
	for (size_t i = 0; i < matcher->without.count; i++) {
		enum match found = any_token_matches(&process->argv, matcher->without.items[i]);

		match = both(match, found == MATCH_YES ? MATCH_NO : found == MATCH_NO ? MATCH_YES : MATCH_UNKNOWN);
	}
	return match;
}

/* Its argv is not known far enough to name it: an interpreter without its script, or a program without any name. */
static bool may_have_other_names(const struct program *program)
{
	return program->is_incomplete && (program->interpreter != INTERPRETER_NONE || program->exe.length == 0);
}

static enum match script_matches(const struct matcher *matcher, const struct process *process)
{
	const struct program *program = &process->program;

	if (matcher->script.count == 0)
		return MATCH_YES;
	if (globs_match(&matcher->script, program->script) || globs_match(&matcher->script, program->package))
		return MATCH_YES;
	return may_have_other_names(program) ? MATCH_UNKNOWN : MATCH_NO;
}

static enum match rest_matches(const struct matcher *matcher, const struct process *process)
{
	enum match match = script_matches(matcher, process);

	if (match != MATCH_NO)
		match = both(match, argv_matches(matcher, process));
	if (match != MATCH_NO)
		match = both(match, tokens_match(matcher, process));
	return match;
}

enum match matcher_fits_process(const struct matcher *matcher, const struct process *process)
{
	const struct program *program = &process->program;
	struct span exe = program->exe.length ? program->exe : program->argv0;

	if (matcher->program.count > 0 && !globs_match(&matcher->program, exe))
		return exe.length == 0 ? both(MATCH_UNKNOWN, rest_matches(matcher, process)) : MATCH_NO;
	return rest_matches(matcher, process);
}

enum match matcher_names_process(const struct matcher *matcher, const struct process *process)
{
	const struct program *program = &process->program;

	if (matcher->program.count > 0 && !globs_name_program(&matcher->program, program))
		return may_have_other_names(program) ? both(MATCH_UNKNOWN, rest_matches(matcher, process)) : MATCH_NO;
	return rest_matches(matcher, process);
}

enum match rule_fits_process(const struct rule *rule, const struct process *process)
{
	return matcher_fits_process(&rule->matcher, process);
}

bool rule_names_server(const struct rule *rule)
{
	return rule->matcher.script.count > 0 || rule->matcher.argv_count > 0 || rule->matcher.with.count > 0;
}

bool rule_fits_listener(const struct rule *rule, const struct listener *listener)
{
	bool has_port = rule->port_count == 0;

	for (size_t i = 0; i < rule->port_count && !has_port; i++)
		has_port = listener->port >= rule->ports[i].first && listener->port <= rule->ports[i].last;
	return has_port && (rule->scopes == 0 || rule->scopes & 1u << addr_scope(&listener->address, listener->bound_dev));
}

static bool variable_fits(const struct env_condition *condition, const char *variable)
{
	size_t length = strlen(condition->name);

	if (strncmp(variable, condition->name, length) != 0 || variable[length] != '=')
		return false;
	return !condition->glob || fnmatch(condition->glob, variable + length + 1, 0) == 0;
}

enum match rule_fits_environment(const struct rule *rule, const struct process *process)
{
	if (rule->env_count == 0)
		return MATCH_YES;
	if (process->environ != FACT_KNOWN)
		return MATCH_UNKNOWN;
	for (size_t i = 0; i < rule->env_count; i++)
		for (const char *variable = argv_next(&process->environment, NULL); variable;
		     variable = argv_next(&process->environment, variable))
			if (variable_fits(&rule->env[i], variable))
				return MATCH_YES;
	return MATCH_NO;
}

bool rule_fits_cgroup(const struct rule *rule, const char *cgroup)
{
	if (rule->cgroup.count == 0)
		return true;
	while (*cgroup) {
		const char *end = strchrnul(cgroup, '\n'), *path = memchr(cgroup, ':', (size_t)(end - cgroup));

		path = path ? memchr(path + 1, ':', (size_t)(end - path - 1)) : NULL;
		if (path && globs_match(&rule->cgroup, (struct span){ path + 1, (size_t)(end - path - 1) }))
			return true;
		cgroup = *end ? end + 1 : end;
	}
	return false;
}

bool rule_fits_user(const struct rule *rule, uint32_t uid)
{
	bool fits = rule->user.is_any;

	for (size_t i = 0; i < rule->user.count && !fits; i++)
		fits = rule->user.uids[i] == uid;
	return fits;
}

bool rules_is_multiprocessing_child(const struct process *process)
{
	static const char spawn[] = "from multiprocessing.spawn import spawn_main; spawn_main(";
	static const char words[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=, ";
	const char *token, *code;

	if (process->program.interpreter != INTERPRETER_PYTHON || !process->program.is_inline)
		return false;
	token = program_first_argument(&process->program, &process->argv);
	if (!token || strcmp(token, "-c") != 0)
		return false;
	token = argv_next(&process->argv, token);
	if (!token || strncmp(token, spawn, sizeof(spawn) - 1) != 0)
		return false;
	/* `tracker_fd=5, pipe_handle=7)` and nothing behind it (Lib/multiprocessing/spawn.py, get_command_line()) */
	code = token + sizeof(spawn) - 1;
	code += strspn(code, words);
	if (strcmp(code, ")") != 0)
		return false;
	token = argv_next(&process->argv, token);
	return token && strcmp(token, "--multiprocessing-fork") == 0 && !argv_next(&process->argv, token) && !process->argv.is_cut;
}

static enum match list_names(const struct ruleset *ruleset, enum keeper kind, const struct process *process)
{
	enum match best = MATCH_NO;

	for (size_t i = 0; i < ruleset->lists[kind].count && best != MATCH_YES; i++) {
		enum match match = matcher_names_process(&ruleset->lists[kind].items[i], process);

		if (match != MATCH_NO)
			best = match;
	}
	return best;
}

/*
 * Unknown (argv cut or missed) is no match, for to be taken for a keeper can kill as well: an agent above makes an ended person's job an
 * orphan. KEEPER_NONE spares while it lives; when it has ended, rules_may_be_keeper() tells that the walk must not look through it.
 */
static bool is_listed(const struct ruleset *ruleset, enum keeper kind, const struct process *process)
{
	return list_names(ruleset, kind, process) == MATCH_YES;
}

enum keeper rules_keeper_of(const struct ruleset *ruleset, const struct process *process, bool has_tty)
{
	const struct program *program = &process->program;

	if (is_listed(ruleset, KEEPER_AGENT, process))
		return KEEPER_AGENT;
	if (is_listed(ruleset, KEEPER_PERSON, process) || program_is_interactive_shell(program, &process->argv, has_tty))
		return KEEPER_PERSON;
	if (is_listed(ruleset, KEEPER_SUPERVISOR, process))
		return KEEPER_SUPERVISOR;
	if (process->id.tgid == 1 || (process->is_exe_root_only && is_listed(ruleset, KEEPER_MANAGER, process)))
		return KEEPER_MANAGER;
	if (is_listed(ruleset, KEEPER_WRAPPER, process))
		return KEEPER_WRAPPER;
	if (program_is_script(program, &process->argv, has_tty))
		return KEEPER_SCRIPT;
	/* `sh -c`: only starts what it was told. */
	return program_is_shell(program) && program->is_inline ? KEEPER_WRAPPER : KEEPER_NONE;
}

bool rules_may_be_keeper(const struct ruleset *ruleset, const struct process *process, bool has_tty)
{
	static const enum keeper owners[] = { KEEPER_AGENT, KEEPER_PERSON, KEEPER_SUPERVISOR };

	if (rules_keeper_of(ruleset, process, has_tty) != KEEPER_NONE)
		return false;
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (list_names(ruleset, owners[i], process) == MATCH_UNKNOWN)
			return true;
	return has_tty && program_is_shell(&process->program) && process->program.is_incomplete;
}

/* Unknown protects. */
const struct matcher *rules_protection_of(const struct ruleset *ruleset, const struct process *process)
{
	for (size_t i = 0; i < ruleset->protection_count; i++)
		if (matcher_names_process(&ruleset->protections[i], process) != MATCH_NO)
			return &ruleset->protections[i];
	return NULL;
}
