/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "../show/status.h"
#include "judged.h"

static bool holder_fits(const struct filter *filter, const struct process *holder)
{
	return (filter->pid < 0 || holder->id.tgid == (uint32_t)filter->pid) && (filter->uid < 0 || holder->uid == (uint32_t)filter->uid);
}

static bool row_fits(const struct filter *filter, const struct world *world, const struct status_row *row)
{
	const struct listener *listener = &world->listeners[row->listener];
	bool has_holder = filter->pid < 0 && filter->uid < 0;

	if (filter->port >= 0 && listener->port != filter->port)
		return false;
	if (filter->scope >= 0 && addr_scope(&listener->address, listener->bound_dev) != (enum scope)filter->scope)
		return false;
	if (filter->verdict >= 0 && row->verdict.kind != (enum verdict_kind)filter->verdict)
		return false;
	if (filter->is_orphan && row->verdict.orphan != ORPHAN_YES)
		return false;
	for (int i = 0; i < listener->holder_count && !has_holder; i++)
		has_holder = holder_fits(filter, &world->processes[world->holders[listener->first_holder + i].process]);
	return has_holder;
}

static int judge_one(struct session *session, struct judged *judged, struct status_row *row)
{
	const struct ruleset *ruleset = config_ruleset(session->config);
	int *tree = NULL, tree_count = 0, err;
	enum step step;

	err = observation_judge(judged->observation, ruleset, judged->now_boot_ns, row->listener, &row->verdict, &step, &tree, &tree_count);
	if (err == 0 && row->verdict.kind == VERDICT_REAP)
		policy_count_due(observation_world(judged->observation), tree, tree_count);
	free(tree);
	return err;
}

/* The snapshot, and room for all rows. */
static int start(struct session *session, struct judged *judged, struct failure *ret_failure)
{
	int err = tracker_read_status(session->tracker, &judged->tracking, ret_failure);

	if (err == 0)
		err = observation_take(session->tracker, session->proc_fd, &judged->observation, ret_failure);
	if (err < 0)
		return err;
	judged->now_boot_ns = observation_boot_ns(judged->observation);
	judged->rows = malloc(((size_t)observation_world(judged->observation)->listener_count + 1) * sizeof(*judged->rows));
	return judged->rows ? 0 : failure_set(ret_failure, -ENOMEM, "out of memory for the listeners");
}

int judged_take_due(struct session *session, struct judged *ret, struct failure *ret_failure)
{
	struct judged judged = { 0 };
	int err = start(session, &judged, ret_failure);
	const struct world *world = err == 0 ? observation_world(judged.observation) : NULL;

	for (int i = 0; err == 0 && i < world->listener_count; i++) {
		struct status_row *row = &judged.rows[judged.count];

		if (policy_earliest_due(config_ruleset(session->config), &world->listeners[i]) > judged.now_boot_ns)
			continue;
		row->listener = i;
		judged.count++;
		err = judge_one(session, &judged, row);
		if (err < 0)
			failure_set(ret_failure, err, "cannot judge: %s", strerror(-err));
	}
	if (err < 0)
		judged_free(&judged);
	else
		*ret = judged;
	return err;
}

int judged_take(struct session *session, const struct filter *filter, struct judged *ret, struct failure *ret_failure)
{
	struct judged judged = { 0 };
	int err = start(session, &judged, ret_failure);
	const struct world *world = err == 0 ? observation_world(judged.observation) : NULL;

	for (int i = 0; err == 0 && i < world->listener_count; i++) {
		struct status_row *row = &judged.rows[judged.count];
		const struct listener *listener = &world->listeners[i];

		row->listener = i;
		err = judge_one(session, &judged, row);
		if (err == 0 && filter && !row_fits(filter, world, row))
			continue;
		for (int held = 0; held < listener->holder_count && err == 0; held++)
			err = observation_describe(judged.observation, world->holders[listener->first_holder + held].process);
		judged.count++;
		if (err < 0)
			failure_set(ret_failure, err, "cannot judge: %s", strerror(-err));
	}
	if (err < 0)
		judged_free(&judged);
	else
		*ret = judged;
	return err;
}

void judged_free(struct judged *judged)
{
	observation_free(judged->observation);
	free(judged->rows);
	*judged = (struct judged){ 0 };
}

struct status_frame judged_frame(const struct session *session, const struct judged *judged, bool has_header)
{
	struct winsize window = { 0 };
	bool is_terminal = isatty(STDOUT_FILENO);
	const char *no_colour = getenv("NO_COLOR");

	if (is_terminal)
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &window);
	return (struct status_frame){
		.observation = judged->observation,
		.ruleset = config_ruleset(session->config),
		.tracking = &judged->tracking,
		.now_boot_ns = judged->now_boot_ns,
		.has_colour = is_terminal && !(no_colour && *no_colour),	/* no-color.org: when present and not empty */
		.has_header = has_header,
		.columns = window.ws_col,
	};
}

int command_status(const struct invocation *invocation)
{
	struct failure failure = { 0 };
	struct judged judged = { 0 };
	struct session session;
	int code;

	if (invocation->is_watching)
		return command_status_watch(invocation);
	code = session_open(invocation, false, &session);

	if (code == EXIT_DONE && judged_take(&session, &invocation->filter, &judged, &failure) < 0)
		code = command_fail(&failure);
	if (code == EXIT_DONE) {
		struct status_frame frame = judged_frame(&session, &judged, !invocation->has_no_header);

		if (invocation->is_json)
			status_print_json(&frame, judged.rows, judged.count, NULL, -1, stdout);
		else
			status_print_table(&frame, judged.rows, judged.count, stdout);
		if (judged.count == 0 && !invocation->is_json && isatty(STDOUT_FILENO))
			command_say("nothing listens here%s", observation_world(judged.observation)->listener_count ? " that fits" : "");
	}
	judged_free(&judged);
	session_close(&session);
	return code;
}
