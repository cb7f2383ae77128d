/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * Rules, protections and name lists as the config gives them (contract.md, "The config file"), and whether a process
 * meets one. Matching is pure; user/observe/config.c reads the file, allocates and resolves. Everything is matched by
 * token and by basename, never by substring.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "facts.h"

/* Alternatives; a repeated key or a | adds one. Empty: the condition is not there. */
struct globs {
	const char *const *items;
	size_t count;
};

/* One line of `argv`: tokens, each a glob; "..." stands for any tokens, also none. A beginning of argv. */
struct argv_pattern {
	const char *const *tokens;
	size_t count;
};

/* What names a process. All given conditions must hold. */
struct matcher {
	const char *name;		/* of the section, "" when it has none */
	int line;			/* of its header; 0 built in */
	struct globs program;
	struct globs script;		/* the interpreter's script: basename, or its node_modules package */
	const struct argv_pattern *argv;
	size_t argv_count;		/* alternatives; 0: not asked */
	struct globs with;		/* each must match some token */
	struct globs without;		/* none may match any token */
};

enum match { MATCH_NO, MATCH_YES, MATCH_UNKNOWN };	/* unknown: argv is cut or missed, and the token that decides may lie beyond */

enum rule_orphan { RULE_ORPHAN_YES, RULE_ORPHAN_PARENT, RULE_ORPHAN_ANY, RULE_ORPHAN_MAX };
enum rule_choice { RULE_SPARE, RULE_REAP, RULE_CHOICE_MAX };
enum rule_action { RULE_KILL, RULE_REPORT, RULE_ACTION_MAX };
extern const char *const rule_orphan_names[RULE_ORPHAN_MAX];	/* "yes" "parent" "any" */
extern const char *const rule_choice_names[RULE_CHOICE_MAX];	/* "spare" "reap" */
extern const char *const rule_action_names[RULE_ACTION_MAX];	/* "kill" "report" */

/* The kinds of ancestor of the walk (design.md, Words). The order is the order of the table's rows. */
enum keeper {
	KEEPER_NONE,			/* any other program */
	KEEPER_AGENT, KEEPER_PERSON, KEEPER_SUPERVISOR, KEEPER_MANAGER,
	KEEPER_WRAPPER, KEEPER_SCRIPT,
	KEEPER_MAX
};
extern const char *const keeper_names[KEEPER_MAX];	/* "other" "agent" "person" "supervisor" "manager" "wrapper" "script" */

struct port_range {
	uint16_t first, last;
};

struct uid_set {
	bool is_any;			/* `*` */
	const uint32_t *uids;
	size_t count;
};

struct env_condition {
	const char *name;
	const char *glob;		/* NULL: set at all */
};

struct rule {
	struct matcher matcher;		/* program is the executable alone here */
	struct globs born_of;		/* program names (any facet) of a birth ancestor */
	unsigned anchor_kinds;		/* 1u << enum keeper; 0 any */
	struct uid_set user;
	struct globs cgroup;		/* against each line's path of /proc/PID/cgroup */
	const struct port_range *ports;
	size_t port_count;
	unsigned scopes;		/* 1u << enum scope; 0 any */
	bool any_netns, any_pidns;	/* false: the host's only */
	const struct env_condition *env;	/* alternatives */
	size_t env_count;
	uint64_t stale_after_ns[SCOPE_MAX];
	enum rule_orphan orphan;
	enum rule_choice in_use;
	enum rule_choice operator;
	int signal;
	uint64_t grace_ns;
	enum rule_action action;
};

/* The name lists: [agents] ... [wrappers] and their named sections, shipped ones included unless dropped. */
struct name_list {
	const struct matcher *items;
	size_t count;
};

struct ruleset {
	bool is_observe;		/* mode = observe */
	uint32_t max_reaps;
	uint64_t boot_ns;		/* [managers] boot */
	const struct rule *rules;
	size_t rule_count;
	const struct matcher *protections;
	size_t protection_count;
	struct name_list lists[KEEPER_MAX];	/* AGENT, PERSON, SUPERVISOR, MANAGER, WRAPPER are used */
};

/* program globs against exe, argv0, comm, script, package, module, main (each facet); argv etc. as for rules. For lists and protections. */
enum match matcher_names_process(const struct matcher *matcher, const struct process *process);
/* program globs against the executable's basename alone (argv[0]'s when no executable is known). For rules. */
enum match matcher_fits_process(const struct matcher *matcher, const struct process *process);
/* Any facet of a process against one list of globs (born-of). */
bool globs_name_program(const struct globs *globs, const struct program *program);

/* The conditions of a rule that lie in one process: program, script, argv, with, without. */
enum match rule_fits_process(const struct rule *rule, const struct process *process);
/* Does the rule say what it names by itself, so that a second process that it fits is the same server? Not one that asks for surroundings alone. */
bool rule_names_server(const struct rule *rule);
/* port, scope: what the listener itself decides. */
bool rule_fits_listener(const struct rule *rule, const struct listener *listener);
/* env: MATCH_UNKNOWN when the environment was not asked for yet or is unreadable. */
enum match rule_fits_environment(const struct rule *rule, const struct process *process);
bool rule_fits_cgroup(const struct rule *rule, const char *cgroup);
bool rule_fits_user(const struct rule *rule, uint32_t uid);
/* The argv line of multiprocessing's spawn: `-c "from multiprocessing.spawn import spawn_main; ..." --multiprocessing-fork`. */
bool rules_is_multiprocessing_child(const struct process *process);

/* First matching row of design.md's walk for this ancestor by name and nature; managers are checked for pid 1 or a root-only file.
   has_tty: did it have a terminal when it forked the child in question (or has it now)? */
enum keeper rules_keeper_of(const struct ruleset *ruleset, const struct process *process, bool has_tty);
/*
 * Is it of no row above only because its argv is cut or was missed: may it be an agent, a person or a supervisor? One that lives spares
 * as any other program does; one that has ended must not be looked through, nor be left out when a live agent is sought.
 */
bool rules_may_be_keeper(const struct ruleset *ruleset, const struct process *process, bool has_tty);
/* Which protection names it, or may name it when its argv is not known far enough; NULL none. */
const struct matcher *rules_protection_of(const struct ruleset *ruleset, const struct process *process);
