/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * What the commands share: what was asked for, exit codes, and how a failure is said. Each command is one function
 * that returns an exit code; stdout is data, stderr is talk.
 */
#include "../observe/config.h"
#include "../observe/observation.h"

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,	/* it failed, or explain found nothing */
	EXIT_USAGE = 2,		/* usage or config */
	EXIT_BLIND = 3,		/* cannot observe: privilege or kernel; nothing was changed */
	EXIT_SURVIVED = 4,	/* sweep left something alive that it should have reaped */
};

#define PIN_DIR_DEFAULT "/sys/fs/bpf/listenreap"

struct filter {
	long port, pid;		/* -1 any */
	long uid;		/* -1 any */
	int scope, verdict;	/* enum; -1 any */
	bool is_orphan;
};

struct invocation {
	const char *pin_dir;
	const char *config_path;	/* NULL: the default */
	bool is_json, is_dry_run, has_no_header, is_list, is_remove;
	bool is_watching;		/* status --watch */
	bool is_log_json;		/* run --log-format json */
	uint64_t for_ns;		/* keep --for; 0 until reboot */
	struct filter filter;
	const char *operand;		/* PID, :PORT or FILE; NULL none */
};

int command_load(const struct invocation *invocation);
int command_unload(const struct invocation *invocation);
int command_run(const struct invocation *invocation);
int command_sweep(const struct invocation *invocation);
int command_watch(const struct invocation *invocation);
int command_metrics(const struct invocation *invocation);
int command_status_watch(const struct invocation *invocation);
int command_status(const struct invocation *invocation);
int command_explain(const struct invocation *invocation);
int command_keep(const struct invocation *invocation);
int command_check(const struct invocation *invocation);
int command_doctor(const struct invocation *invocation);

/* "listenreap: text" on stderr; the exit code for what happened while tracking, and for the config. */
int command_fail(const struct failure *failure);
int command_fail_config(const struct failure *failure);
void command_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What every reading command opens: config, pins, /proc. Close with session_close whatever was opened. */
struct session {
	struct config *config;
	struct tracker *tracker;
	int proc_fd;
};
/* loads: start tracking when it is not loaded (sweep). Returns an exit code, having said why. */
int session_open(const struct invocation *invocation, bool loads, struct session *ret);
void session_close(struct session *session);
