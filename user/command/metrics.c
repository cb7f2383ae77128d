/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "judged.h"

static void head(const char *name, const char *type, const char *help)
{
	printf("# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Label values: backslash, quote and newline are escaped (Prometheus exposition formats, 0.0.4); other control characters are made visible. */
static void put_label(const char *value)
{
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			printf("\\%c", *value);
		else if ((unsigned char)*value < ' ' || *value == 0x7f)
			putchar('?');
		else
			putchar(*value);
	}
}

static void print_listeners(const struct judged *judged)
{
	const struct world *world = observation_world(judged->observation);
	int scopes[SCOPE_MAX] = { 0 }, reasons[VERDICT_MAX][REASON_MAX] = { 0 }, orphans = 0;

	for (int i = 0; i < judged->count; i++) {
		const struct listener *listener = &world->listeners[judged->rows[i].listener];
		const struct verdict *verdict = &judged->rows[i].verdict;

		scopes[addr_scope(&listener->address, listener->bound_dev)]++;
		reasons[verdict->kind][verdict->reason]++;
		orphans += verdict->orphan == ORPHAN_YES;
	}
	head("listenreap_listeners", "gauge", "Listening TCP sockets by scope.");
	for (int i = 0; i < SCOPE_MAX; i++)
		printf("listenreap_listeners{scope=\"%s\"} %d\n", scope_names[i], scopes[i]);
	head("listenreap_orphans", "gauge", "Listeners whose owner has ended.");
	printf("listenreap_orphans %d\n", orphans);
	head("listenreap_verdicts", "gauge", "Listeners by verdict and reason.");
	for (int i = 0; i < VERDICT_MAX; i++)
		for (int j = 0; j < REASON_MAX; j++)
			if (reasons[i][j] > 0)
				printf("listenreap_verdicts{verdict=\"%s\",reason=\"%s\"} %d\n", verdict_names[i], reason_names[j], reasons[i][j]);
}

static int print_tally(const struct tally_key *key, uint64_t count, void *arg)
{
	char rule[sizeof(key->rule) + 1] = "";

	(void)arg;
	memcpy(rule, key->rule, sizeof(key->rule));
	fputs("listenreap_reaps_total{rule=\"", stdout);
	put_label(rule);
	printf("\",outcome=\"%s\"} %" PRIu64 "\n", key->outcome < OUTCOME_MAX ? outcome_names[key->outcome] : "?", count);
	return 0;
}

static void print_missed(const struct tracking_status *tracking)
{
	static const char *const kinds[COUNTER_MAX] = { "births_full", "storage_failed", "unrecorded_parent", "cascade_cut" };

	head("listenreap_missed_records_total", "counter", "Records that could not be written, by kind.");
	for (int i = 0; i < COUNTER_MAX; i++)
		printf("listenreap_missed_records_total{kind=\"%s\"} %" PRIu64 "\n", kinds[i], (uint64_t)tracking->counters[i]);
	printf("listenreap_missed_records_total{kind=\"recursion\"} %" PRIu64 "\n", tracking->recursion_misses);
}

int command_metrics(const struct invocation *invocation)
{
	struct failure failure = { 0 };
	struct judged judged = { 0 };
	struct session session;
	uint64_t started;
	int code = session_open(invocation, false, &session);

	started = clock_boot_ns();
	if (code == EXIT_DONE && judged_take(&session, NULL, &judged, &failure) < 0)
		code = command_fail(&failure);
	if (code == EXIT_DONE) {
		uint64_t ended = clock_boot_ns();

		head("listenreap_build_info", "gauge", "Version of the program and hook of the tracking.");
		printf("listenreap_build_info{version=\"%s\",hook=\"%s\"} 1\n", VERSION, judged.tracking.hook == HOOK_FEXIT ? "fexit" : "tracepoint");
		head("listenreap_tracking_start_time_seconds", "gauge", "When tracking began, in seconds since the epoch.");
		printf("listenreap_tracking_start_time_seconds %" PRIu64 "\n", judged.tracking.since_real_s);
		print_listeners(&judged);
		head("listenreap_reaps_total", "counter", "Holders of due listeners that were acted on, by rule and outcome, since tracking began.");
		tracker_read_tallies(session.tracker, print_tally, NULL);
		print_missed(&judged.tracking);
		head("listenreap_snapshot_seconds", "gauge", "Time to look at every listener and judge it.");
		printf("listenreap_snapshot_seconds %.6f\n", (double)(ended - started) / 1e9);
	}
	judged_free(&judged);
	session_close(&session);
	return code;
}
