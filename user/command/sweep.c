/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include "../show/log.h"
#include "judged.h"

/* What came of one sweep. */
struct harvest {
	struct act *acts;
	int count, room;
	bool is_out_of_memory;
};

static void note_act(const struct act *act, void *arg)
{
	struct harvest *harvest = arg;

	log_act(act);
	if (harvest->count == harvest->room) {
		int room = harvest->room ? harvest->room * 2 : 16;
		struct act *acts = realloc(harvest->acts, (size_t)room * sizeof(*acts));

		if (!acts) {
			harvest->is_out_of_memory = true;
			return;
		}
		harvest->acts = acts;
		harvest->room = room;
	}
	harvest->acts[harvest->count++] = *act;
}

/* Waits for what was signalled, a grace and a KILL at the most. */
static int wait_for(struct reaper *reaper)
{
	int err = 0;

	while (!reaper_is_idle(reaper) && err == 0) {
		struct pollfd wait = { .fd = reaper_fd(reaper), .events = POLLIN };
		uint64_t deadline = reaper_deadline_ns(reaper), now = clock_boot_ns();
		uint64_t left_ms = deadline == UINT64_MAX ? 1000 : deadline <= now ? 0 : (deadline - now) / 1000000 + 1;

		if (poll(&wait, 1, left_ms > 60000 ? 60000 : (int)left_ms) < 0 && errno != EINTR)
			return -errno;
		err = reaper_step(reaper, clock_boot_ns());
	}
	return err;
}

/* Judges again for the trees (they are not kept for every listener) and hands the due ones to the reaper. */
static int reap(struct session *session, struct judged *judged, struct reaper *reaper)
{
	const struct ruleset *ruleset = config_ruleset(session->config);
	int err = 0;

	for (int i = 0; i < judged->count && err == 0; i++) {
		int *tree = NULL, tree_count = 0;
		struct verdict verdict;
		enum step step;

		if (judged->rows[i].verdict.kind != VERDICT_REAP)
			continue;
		err = observation_judge(judged->observation, ruleset, judged->now_boot_ns, judged->rows[i].listener, &verdict, &step, &tree,
					&tree_count);
		if (err == 0 && verdict.kind == VERDICT_REAP)
			err = reaper_reap(reaper, judged->observation, judged->rows[i].listener, &verdict, tree, tree_count);
		free(tree);
	}
	if (err == 0)
		err = reaper_commit(reaper);
	return err < 0 ? err : wait_for(reaper);
}

static int count_limited(const struct judged *judged)
{
	int limited = 0;

	for (int i = 0; i < judged->count; i++)
		limited += judged->rows[i].verdict.reason == REASON_LIMIT;
	return limited;
}

static bool has_survivor(const struct harvest *harvest)
{
	for (int i = 0; i < harvest->count; i++)
		if (harvest->acts[i].outcome == OUTCOME_SURVIVED)
			return true;
	return false;
}

int command_sweep(const struct invocation *invocation)
{
	struct failure failure = { 0 };
	struct harvest harvest = { 0 };
	struct judged judged = { 0 };
	struct reaper *reaper = NULL;
	struct session session;
	int code = session_open(invocation, true, &session), err = 0;

	log_open(LOG_TEXT);
	if (code == EXIT_DONE && (invocation->is_json ? judged_take(&session, NULL, &judged, &failure) :
							 judged_take_due(&session, &judged, &failure)) < 0)
		code = command_fail(&failure);
	if (code == EXIT_DONE) {
		struct reaper_options options = {
			.tracker = session.tracker, .proc_fd = session.proc_fd, .ruleset = config_ruleset(session.config),
			.is_dry_run = invocation->is_dry_run, .done = note_act, .arg = &harvest,
		};
		int limited = count_limited(&judged);

		err = reaper_open(&options, &reaper);
		if (err == 0)
			err = reap(&session, &judged, reaper);
		if (err < 0 || harvest.is_out_of_memory) {
			command_say("sweep: %s", strerror(err < 0 ? -err : ENOMEM));
			code = EXIT_FAILED;
		}
		if (limited > 0)
			command_say("sweep: %d more listeners are due than max-reaps = %u allows in one sweep; they wait", limited,
				    options.ruleset->max_reaps);
		if (code == EXIT_DONE && (has_survivor(&harvest) || limited > 0))
			code = EXIT_SURVIVED;
		if (invocation->is_json) {
			struct status_frame frame = judged_frame(&session, &judged, true);

			status_print_json(&frame, judged.rows, judged.count, harvest.acts, harvest.count, stdout);
		}
	}
	reaper_close(reaper);
	judged_free(&judged);
	session_close(&session);
	free(harvest.acts);
	return code;
}
