/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table, JSON, explain and the log, of one hand-made host: an agent that has ended left a dev server, a person's server runs, and
 * somebody has a hostile name. A sentence for every reason.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../user/observe/observed.h"
#include "../../user/observe/proc.h"
#include "../../user/show/explain.h"
#include "../../user/show/json.h"
#include "../../user/show/log.h"
#include "../../user/show/text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define ARGV(text) { .bytes = text "\0", .length = sizeof(text), .is_known = true }
#define HOURS (UINT64_C(3600) * NS_PER_SEC)
#define MINUTES (UINT64_C(60) * NS_PER_SEC)
#define NOW (100 * HOURS)

enum { INIT, SHELL, AGENT, WRAPPER, SERVER, MINE, TOOL, HOSTILE, PROCESS_COUNT };
enum { LEFT, OWNED, STRANGE, LISTENER_COUNT };

static const char config_text[] =
	"[rule other]\nprogram = ruby\n"
	"[rule elsewhere]\nprogram = node\nport = 1\n"
	"[rule next]\nprogram = node\nscript = next\n"
	"[rule vite]\nprogram = node\nscript = vite\n"
	"[rule any]\nprogram = node\norphan = any\nin-use = reap\n"
	"[protect databases]\nprogram = postgres\n";
enum { RULE_OTHER, RULE_ELSEWHERE, RULE_NEXT, RULE_VITE, RULE_ANY, RULE_COUNT };

struct stage {
	struct process processes[PROCESS_COUNT];
	struct listener listeners[LISTENER_COUNT];
	struct holder holders[LISTENER_COUNT];
	struct observation observation;
	struct tracking_status tracking;
	struct config *config;
	struct status_frame frame;
	struct status_row rows[LISTENER_COUNT];
};

static void set_process(struct stage *stage, int index, uint32_t pid, int parent, const char *exe, const char *comm, struct argv argv)
{
	struct process *process = &stage->processes[index];

	*process = (struct process){
		.id = { .tgid = pid, .start_boot_ns = (uint64_t)(index + 1) * HOURS }, .birth_parent = parent, .is_recorded = true, .is_witnessed = true,
		.has_execed = true, .comm = comm, .exe = exe, .argv = argv, .parent_now = NONE, .first_child = NONE, .next_sibling = NONE,
		.first_held = NONE,
	};
	program_identify(exe, comm, &process->argv, &process->program);
}

static void set_listener(struct stage *stage, int index, int holder, uint16_t port, uint64_t age_ns)
{
	struct listener *listener = &stage->listeners[index];

	*listener = (struct listener){
		.inode = UINT64_C(9007199254740993) + (uint64_t)index, .protocol = IPPROTO_TCP, .address = { AF_INET, { 127, 0, 0, 1 } }, .port = port,
		.netns = 4026531840, .opened_boot_ns = NOW - age_ns, .is_age_exact = true, .opener = holder,
		.opener_id = stage->processes[holder].id, .opener_comm = stage->processes[holder].comm, .first_holder = index, .holder_count = 1,
	};
	stage->holders[index] = (struct holder){ holder, index, NONE };
	stage->rows[index] = (struct status_row){
		.listener = index,
		.verdict = { .kind = VERDICT_SPARE, .reason = REASON_NO_RULE, .rule = NONE, .culprit = NONE, .other = NONE, .decider = holder,
			     .connections = NONE, .orphan = ORPHAN_UNKNOWN },
	};
	lineage_walk(&stage->observation.world, stage->frame.ruleset, holder, NONE, &stage->rows[index].verdict.walk, NULL, 0, NULL);
}

static void stage_open(struct stage *stage)
{
	struct failure failure = { 0 };
	struct verdict *left;

	*stage = (struct stage){ 0 };
	cr_assert(config_parse("show.conf", config_text, sizeof(config_text) - 1, &stage->config, &failure) == 0, "%s", failure.text);
	stage->observation.world = (struct world){
		.host_netns = 4026531840, .processes = stage->processes, .process_count = PROCESS_COUNT, .listeners = stage->listeners,
		.listener_count = LISTENER_COUNT, .holders = stage->holders, .holder_count = LISTENER_COUNT,
	};
	stage->tracking = (struct tracking_status){ .since_boot_ns = 1, .hook = HOOK_FEXIT, .counters = { 3, 4, 5, 6 }, .recursion_misses = 7 };
	stage->frame = (struct status_frame){
		.observation = &stage->observation, .ruleset = config_ruleset(stage->config), .tracking = &stage->tracking, .now_boot_ns = NOW,
		.has_header = true,
	};
	set_process(stage, INIT, 1, NONE, "systemd", "systemd", (struct argv)ARGV("/sbin/init"));
	set_process(stage, SHELL, 77, INIT, "bash", "bash", (struct argv)ARGV("-bash"));
	stage->processes[SHELL].tty = 34816;
	set_process(stage, AGENT, 812, SHELL, "claude", "claude", (struct argv)ARGV("claude"));
	stage->processes[AGENT].end_boot_ns = NOW - 2 * HOURS - 5 * MINUTES;
	set_process(stage, WRAPPER, 4710, AGENT, "dash", "sh", (struct argv)ARGV("sh\0-c\0vite"));
	stage->processes[WRAPPER].end_boot_ns = NOW - 2 * HOURS;
	set_process(stage, SERVER, 4711, WRAPPER, "node", "node", (struct argv)ARGV("node\0/app/node_modules/.bin/vite\0two words"));
	stage->processes[SERVER].exe_path = "/usr/bin/node";
	stage->processes[SERVER].cgroup = "12:cpu:/old\n0::/user.slice/x.scope\n";
	set_process(stage, MINE, 5000, SHELL, "node", "node", (struct argv)ARGV("node\0server.mjs"));
	set_process(stage, TOOL, 6000, SHELL, "tool", "tool", (struct argv)ARGV("tool"));
	stage->processes[TOOL].end_boot_ns = NOW - HOURS;
	set_process(stage, HOSTILE, 7000, TOOL, "ev\x1b[2Jil", "a\nb\x7f\xff", (struct argv)ARGV("x\x1b]0;t\x07\0\xff\xfe\xe2\x82\0\"q\"\\"));
	set_listener(stage, LEFT, SERVER, 5173, 3 * HOURS);
	set_listener(stage, OWNED, MINE, 80, 10 * MINUTES);
	set_listener(stage, STRANGE, HOSTILE, 443, HOURS);
	stage->listeners[OWNED].address = (struct address){ AF_INET6, { 0 } };
	stage->listeners[OWNED].is_age_exact = false;
	left = &stage->rows[LEFT].verdict;
	left->kind = VERDICT_REAP;
	left->reason = REASON_DUE;
	left->rule = RULE_VITE;
	left->orphan = ORPHAN_YES;
	left->has_orphaned = true;
	left->orphaned_boot_ns = stage->processes[AGENT].end_boot_ns;
	left->connections = 0;
}

static void stage_close(struct stage *stage)
{
	config_free(stage->config);
}

#define AUTO_STAGE __attribute__((cleanup(stage_close))) struct stage

static void free_text(char **text)
{
	free(*text);
}

#define AUTO_TEXT __attribute__((cleanup(free_text))) char *

struct capture {
	char *text;
	size_t length;
	FILE *out;
};

static void capture_start(struct capture *capture)
{
	*capture = (struct capture){ 0 };
	capture->out = open_memstream(&capture->text, &capture->length);
	cr_assert(capture->out != NULL);
}

static char *capture_end(struct capture *capture)
{
	fclose(capture->out);
	return capture->text;
}

static char *table(struct stage *stage, int count)
{
	struct capture capture;

	capture_start(&capture);
	status_print_table(&stage->frame, stage->rows, count, capture.out);
	return capture_end(&capture);
}

static int is_harmless(const char *text)
{
	for (const char *at = text; *at; at++)
		if (((unsigned char)*at < ' ' && *at != '\n') || *at == 0x7f)
			return 0;
	return 1;
}

/* Text of line `index`, in the caller's buffer. */
static const char *line_of(const char *text, int index, char buffer[static 512])
{
	for (; index > 0; index--) {
		text = strchr(text, '\n');
		cr_assert(text != NULL);
		text++;
	}
	snprintf(buffer, 512, "%.*s", (int)strcspn(text, "\n"), text);
	return buffer;
}

static int has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

/* The table */

Test(show, table_puts_first_what_goes_first)
{
	AUTO_STAGE stage;
	char line[512];

	stage_open(&stage);
	AUTO_TEXT text = table(&stage, LISTENER_COUNT);

	cr_expect(has(line_of(text, 1, line), "127.0.0.1:5173"), "%s", text);
	cr_expect(has(line_of(text, 2, line), "*:80") || has(line, "[::]:80"), "%s", text);
	cr_expect(has(line_of(text, 3, line), "127.0.0.1:443"), "%s", text);
	cr_expect(is_harmless(text));
}

Test(show, table_is_aligned)
{
	static const char *const headings[] = { "VERDICT", "ADDRESS", "SCOPE", "AGE", "USER", "PROGRAM", "ANCHOR", "WHY" };
	char heading[512], line[512];
	AUTO_STAGE stage;

	stage_open(&stage);
	AUTO_TEXT text = table(&stage, LISTENER_COUNT);

	line_of(text, 0, heading);
	for (size_t i = 0; i < COUNT_OF(headings); i++) {
		const char *column = strstr(heading, headings[i]);

		cr_assert(column != NULL, "%s in %s", headings[i], heading);
		for (int row = 1; row <= LISTENER_COUNT; row++) {
			size_t at = (size_t)(column - heading);

			line_of(text, row, line);
			cr_expect(line[at] != ' ' && (at == 0 || line[at - 1] == ' '), "%s\n%s", heading, line);
		}
	}
}

Test(show, table_says_the_facts)
{
	AUTO_STAGE stage;
	char line[512];

	stage_open(&stage);
	AUTO_TEXT text = table(&stage, LISTENER_COUNT);

	line_of(text, 1, line);
	cr_expect(has(line, "reap ") && has(line, " loopback ") && has(line, " 3h ") && has(line, " root ") && has(line, " vite(4711) ") &&
		  has(line, " claude(812) ended "), "%s", line);
	line_of(text, 2, line);
	cr_expect(has(line, "spare ") && has(line, " exposed ") && has(line, " >10m ") && has(line, " server(5000) ") && has(line, " bash(77) "), "%s", line);
	line_of(text, 3, line);
	cr_expect(has(line, "a\\nb\\x7f\\xff(7000)"), "%s", line);
}

Test(show, table_without_header_or_rows)
{
	AUTO_STAGE stage;

	stage_open(&stage);
	AUTO_TEXT heading = table(&stage, 0);

	cr_expect(strncmp(heading, "VERDICT", 7) == 0 && strchr(heading, '\n')[1] == '\0', "%s", heading);
	stage.frame.has_header = false;
	AUTO_TEXT nothing = table(&stage, 0);
	AUTO_TEXT one = table(&stage, 1);

	cr_expect_str_eq(nothing, "");
	cr_expect(strncmp(one, "reap", 4) == 0 && strchr(one, '\n')[1] == '\0', "%s", one);
}

Test(show, table_has_colour_when_asked)
{
	AUTO_STAGE stage;
	char line[512];

	stage_open(&stage);
	stage.frame.has_colour = true;
	AUTO_TEXT text = table(&stage, LISTENER_COUNT);

	cr_expect(strncmp(line_of(text, 1, line), "\033[31mreap\033[0m", 13) == 0, "%s", line);
	cr_expect(!has(line + 13, "\033"), "%s", line);
}

Test(show, table_fits_the_terminal)
{
	AUTO_STAGE stage;
	char line[512];

	stage_open(&stage);
	for (stage.frame.columns = 72; stage.frame.columns < 200; stage.frame.columns += 7) {
		AUTO_TEXT text = table(&stage, LISTENER_COUNT);

		for (int row = 0; row <= LISTENER_COUNT; row++)
			cr_expect(text_columns(line_of(text, row, line)) <= (size_t)stage.frame.columns, "%d: %s", stage.frame.columns, line);
		cr_expect(has(line_of(text, 0, line), "WHY") && has(line, "VERDICT") && has(line, "ADDRESS") && has(line, "PROGRAM"), "%s", line);
	}
	stage.frame.columns = 0;
	AUTO_TEXT whole = table(&stage, LISTENER_COUNT);

	cr_expect(!has(whole, "\xe2\x80\xa6"), "%s", whole);
}

/* A listener that lost its last holder between the snapshot and now. */
Test(show, nobody_holds_it)
{
	AUTO_STAGE stage;

	stage_open(&stage);
	stage.listeners[LEFT].holder_count = 0;
	stage.rows[LEFT].verdict.decider = NONE;
	stage.rows[LEFT].verdict.walk = (struct walk){ .lineage = LINEAGE_UNKNOWN, .anchor = NONE, .broke_at = NONE };
	stage.rows[LEFT].verdict.rule = NONE;
	stage.rows[LEFT].verdict.reason = REASON_NO_HOLDER;
	stage.rows[LEFT].verdict.kind = VERDICT_SPARE;
	AUTO_TEXT text = table(&stage, 1);
	struct capture capture;

	cr_expect(has(text, "nobody holds it any more"), "%s", text);
	capture_start(&capture);
	explain_print(&stage.frame, &stage.rows[LEFT], STEP_HOLDER, NULL, 0, capture.out);
	AUTO_TEXT explained = capture_end(&capture);

	cr_expect(has(explained, "no-holder"), "%s", explained);
}

/* One sentence a reason */

static const char *detail(const struct stage *stage, int listener)
{
	static char text[DETAIL_SIZE];

	text_detail(&stage->observation.world, stage->frame.ruleset, &stage->rows[listener].verdict, listener, NOW, text, sizeof(text));
	return text;
}

static void set_due(struct verdict *verdict, uint64_t in_ns)
{
	verdict->kind = VERDICT_WAIT;
	verdict->has_due = true;
	verdict->due_boot_ns = NOW + in_ns;
}

static void set_young(struct stage *stage, struct verdict *verdict)
{
	stage->listeners[LEFT].opened_boot_ns = NOW - 2 * MINUTES;
	set_due(verdict, 3 * MINUTES - 1);
}

static void set_recent(struct stage *stage, struct verdict *verdict)
{
	stage->processes[AGENT].end_boot_ns = verdict->orphaned_boot_ns = NOW - 4 * MINUTES;
	set_due(verdict, MINUTES);
}

static void set_waits_for_other(struct stage *stage, struct verdict *verdict)
{
	set_recent(stage, verdict);
	verdict->other = STRANGE;
}

static void set_orphaned_later(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->orphaned_boot_ns = NOW - HOURS;
}

static void set_any(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->rule = RULE_ANY;
	verdict->connections = 2;
}

static void set_job(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->walk.anchor = TOOL;
	verdict->walk.anchor_kind = KEEPER_NONE;
	verdict->orphaned_boot_ns = NOW - HOURS;
}

static void set_person_alive(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->walk = (struct walk){ .lineage = LINEAGE_OWNED, .anchor = SHELL, .anchor_kind = KEEPER_PERSON, .is_anchor_alive = true, .broke_at = NONE };
}

static void set_agent_alive(struct stage *stage, struct verdict *verdict)
{
	stage->processes[AGENT].end_boot_ns = 0;
	verdict->walk.is_anchor_alive = true;
}

static void set_job_alive(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->walk = (struct walk){ .lineage = LINEAGE_OWNED, .anchor = INIT, .anchor_kind = KEEPER_MANAGER, .is_anchor_alive = true, .broke_at = NONE };
}

static void set_other_alive(struct stage *stage, struct verdict *verdict)
{
	stage->processes[TOOL].end_boot_ns = 0;
	verdict->walk = (struct walk){ .lineage = LINEAGE_OWNED, .anchor = TOOL, .is_anchor_alive = true, .broke_at = NONE };
}

static void set_not_seen(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->walk = (struct walk){ .lineage = LINEAGE_UNKNOWN, .anchor = NONE, .broke_at = SERVER };
}

static void set_operator(struct stage *stage, struct verdict *verdict)
{
	stage->processes[SHELL].end_boot_ns = NOW - 2 * HOURS;
	verdict->walk = (struct walk){ .lineage = LINEAGE_OPERATOR, .anchor = SHELL, .anchor_kind = KEEPER_PERSON, .broke_at = NONE };
}

static void set_daemon(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->walk = (struct walk){ .lineage = LINEAGE_DAEMON, .anchor = INIT, .anchor_kind = KEEPER_MANAGER, .is_anchor_alive = true, .broke_at = NONE };
}

static void set_no_rule(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->rule = NONE;
	verdict->decider = MINE;
}

static void set_protected_by_name(struct stage *stage, struct verdict *verdict)
{
	set_process(stage, TOOL, 6000, SERVER, "postgres", "postgres", (struct argv)ARGV("postgres"));
	verdict->culprit = TOOL;
	for (size_t i = 0; i < stage->frame.ruleset->protection_count; i++)
		if (strcmp(stage->frame.ruleset->protections[i].name, "databases") == 0)
			verdict->what = stage->frame.ruleset->protections[i].name;
}

static void set_protected_by_nature(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->culprit = SHELL;
	verdict->what = "it is a person's shell, session or editor";
}

static void set_protected_listener(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->culprit = SERVER;
	verdict->other = OWNED;
	verdict->what = "it holds a listener that is not due";
}

static void set_floor(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->culprit = INIT;
	verdict->what = "it is pid 1 of a pid namespace";
}

static void set_marker(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->culprit = SERVER;
	verdict->what = "LISTENREAP_KEEP";
}

static void set_empty_marker(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->culprit = MINE;
	verdict->what = "RUNNER_TRACKING_ID=";
}

static void set_keep(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->what = "listenreap keep";
}

static void set_in_use(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->connections = 1;
}

static void set_recent_use(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->is_recent_use = true;
}

static void set_not_looked(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->connections = NONE;
	verdict->what = "could not look";
}

static void set_other_user(struct stage *stage, struct verdict *verdict)
{
	stage->processes[SERVER].uid = 4000000123;
	verdict->culprit = SERVER;
	verdict->what = "the rule is for other users";
}

static void set_other_user_in_tree(struct stage *stage, struct verdict *verdict)
{
	verdict->culprit = MINE;
	stage->processes[MINE].uid = 4000000123;
	verdict->what = "it would be signalled too";
}

static void set_namespace(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->culprit = SERVER;
	verdict->what = "a container's cgroup";
}

static void set_service(struct stage *stage, struct verdict *verdict)
{
	stage->processes[SERVER].cgroup = "0::/user.slice/user@1000.service/app.slice/my-app.service\n";
	verdict->culprit = SERVER;
}

static void set_unreadable(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->culprit = SERVER;
	verdict->what = "its environment";
}

static void set_foreign(struct stage *stage, struct verdict *verdict)
{
	(void)stage;
	verdict->culprit = TOOL;
}

static void set_respawned(struct stage *stage, struct verdict *verdict)
{
	(void)verdict;
	stage->listeners[LEFT].stopped_boot_ns = stage->listeners[LEFT].opened_boot_ns - 40 * NS_PER_SEC;
	stage->listeners[LEFT].respawner = stage->processes[SHELL].id;
}

Test(show, every_reason_has_its_sentence)
{
	static const struct {
		enum reason reason;
		void (*set)(struct stage *stage, struct verdict *verdict);
		const char *sentence;
	} rows[] = {
		{ REASON_DUE, NULL, "its agent claude(812) ended 2h 5m ago; nobody uses it (rule vite)" },
		{ REASON_DUE, set_orphaned_later, "its agent claude(812) ended 2h 5m ago, and it has been an orphan for 1h; nobody uses it (rule vite)" },
		{ REASON_DUE, set_job, "tool(6000), the job that started it, ended 1h ago; nobody uses it (rule vite)" },
		{ REASON_DUE, set_any, "it has listened for 3h and its rule does not ask who owns it; 2 connections, which the rule cuts (rule any)" },
		{ REASON_YOUNG, set_young, "its agent claude(812) ended 2h 5m ago, but it has listened for only 2m; due in 3m if nothing changes (rule vite)" },
		{ REASON_RECENTLY_ORPHANED, set_recent, "its agent claude(812) ended 4m ago; due in 1m if nothing changes (rule vite)" },
		{ REASON_RECENTLY_ORPHANED, set_waits_for_other,
		  "its agent claude(812) ended 4m ago; it waits for port 443 of the same tree, and is due in 1m if nothing changes (rule vite)" },
		{ REASON_ANCHOR_ALIVE, set_agent_alive, "its agent claude(812) is alive" },
		{ REASON_ANCHOR_ALIVE, set_person_alive, "it was started from bash(77), which is alive" },
		{ REASON_ANCHOR_ALIVE, set_job_alive, "it is a job of systemd(1) that still runs" },
		{ REASON_ANCHOR_ALIVE, set_other_alive, "tool(6000), which it was started under, is alive" },
		{ REASON_LINEAGE_UNKNOWN, set_not_seen, "who gave birth to vite(4711) was not seen: it is older than the tracking" },
		{ REASON_OPERATOR, set_operator, "an operator's own: started by hand from bash(77), which ended 2h ago" },
		{ REASON_DAEMON, set_daemon, "a daemon under systemd(1): it detached itself, or was started at boot" },
		{ REASON_NO_RULE, set_no_rule, "no rule names node server.mjs" },
		{ REASON_REPORT_ONLY, NULL, "its agent claude(812) ended 2h 5m ago, but rule vite only reports" },
		{ REASON_PROTECTED, set_protected_by_name, "postgres(6000), which would be stopped with it, is protected by [protect databases]" },
		{ REASON_PROTECTED, set_protected_by_nature,
		  "bash(77), which would be stopped with it, must live: it is a person's shell, session or editor" },
		{ REASON_PROTECTED, set_protected_listener, "vite(4711) also holds port 80, which is not due" },
		{ REASON_FLOOR, set_floor, "systemd(1) is never touched: it is pid 1 of a pid namespace" },
		{ REASON_OPT_OUT, set_marker, "vite(4711) asks to be kept: LISTENREAP_KEEP is set in its environment" },
		{ REASON_OPT_OUT, set_empty_marker,
		  "server(5000), which would be stopped with it, asks to be kept: RUNNER_TRACKING_ID is set and empty in its environment" },
		{ REASON_OPT_OUT, set_keep, "port 5173 is kept by hand (listenreap keep)" },
		{ REASON_IN_USE, set_in_use, "in use: 1 connection" },
		{ REASON_IN_USE, set_recent_use, "in use: a client left within the last minute" },
		{ REASON_IN_USE, set_not_looked, "it may be in use: its connections could not be looked at" },
		{ REASON_OTHER_USER, set_other_user, "vite(4711) runs as 4000000123: the rule is for other users" },
		{ REASON_OTHER_USER, set_other_user_in_tree, "server(5000), which would be stopped with it, runs as 4000000123: another user than its server" },
		{ REASON_NAMESPACE, set_namespace, "it lives in a container's cgroup" },
		{ REASON_SERVICE, set_service, "vite(4711) belongs to systemd's my-app.service, which systemd looks after" },
		{ REASON_NO_HOLDER, NULL, "nobody holds it any more" },
		{ REASON_UNREADABLE, set_unreadable, "unknown, and so spared: its environment (vite(4711))" },
		{ REASON_FOREIGN_HOLDER, set_foreign, "tool(6000) holds it too, another program that no rule names (vite(4711) opened it)" },
		{ REASON_RESPAWNED, set_respawned, "it came back 40s after it was stopped: bash(77) restarts it" },
		{ REASON_LIMIT, NULL, "due, but max-reaps = 32 trees are already due in this sweep (rule vite)" },
	};
	int seen[REASON_MAX] = { 0 };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO_STAGE stage;

		stage_open(&stage);
		stage.rows[LEFT].verdict.reason = rows[i].reason;
		if (rows[i].set)
			rows[i].set(&stage, &stage.rows[LEFT].verdict);
		cr_expect_str_eq(detail(&stage, LEFT), rows[i].sentence);
		seen[rows[i].reason]++;
	}
	for (int reason = 0; reason < REASON_MAX; reason++)
		cr_expect(seen[reason] > 0, "no sentence for %s", reason_names[reason]);
}

/* JSON */

static void put(struct json_object **object)
{
	json_object_put(*object);
}

#define AUTO_JSON __attribute__((cleanup(put))) struct json_object *

static struct json_object *at(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	cr_assert(json_object_object_get_ex(object, key, &value), "no %s", key);
	return value;
}

static const char *text_at(struct json_object *object, const char *key)
{
	return json_object_get_string(at(object, key));
}

static struct json_object *status_json(const struct stage *stage, int count, const struct act *acts, int act_count)
{
	struct capture capture;
	struct json_object *object;
	enum json_tokener_error error;

	capture_start(&capture);
	status_print_json(&stage->frame, stage->rows, count, acts, act_count, capture.out);
	AUTO_TEXT text = capture_end(&capture);

	cr_assert(text[strlen(text) - 1] == '\n');
	object = json_tokener_parse_verbose(text, &error);
	cr_assert(object != NULL, "%s in %s", json_tokener_error_desc(error), text);
	return object;
}

Test(show, json_says_everything)
{
	AUTO_STAGE stage;

	stage_open(&stage);
	set_due(&stage.rows[STRANGE].verdict, 1500000000);
	AUTO_JSON status = status_json(&stage, LISTENER_COUNT, NULL, -1);
	struct json_object *row = json_object_array_get_idx(at(status, "listeners"), LEFT), *holder, *anchor;

	cr_expect(json_object_get_int(at(status, "schema")) == 1);
	cr_expect_str_eq(text_at(status, "version"), VERSION);
	cr_expect_str_eq(text_at(status, "hook"), "fexit");
	cr_expect_str_eq(text_at(status, "mode"), "enforce");
	cr_expect(json_object_get_int(at(status, "dropped")) == 7);
	cr_expect(strlen(text_at(status, "tracking_since")) == strlen("2026-11-30T23:57:03Z"));
	cr_expect(!json_object_object_get_ex(status, "actions", NULL));
	cr_expect_str_eq(text_at(row, "protocol"), "tcp");
	cr_expect_str_eq(text_at(row, "family"), "ipv4");
	cr_expect_str_eq(text_at(row, "address"), "127.0.0.1");
	cr_expect(json_object_get_int(at(row, "port")) == 5173);
	cr_expect(json_object_get_int64(at(row, "inode")) == INT64_C(9007199254740993), "a double cannot say it");
	cr_expect_str_eq(text_at(row, "age_s"), "10800.000");
	cr_expect_str_eq(text_at(row, "orphaned_s"), "7500.000");
	cr_expect(at(row, "due_s") == NULL);
	cr_expect(json_object_get_int(at(row, "connections")) == 0 && at(row, "connections") != NULL);
	cr_expect_str_eq(text_at(row, "verdict"), "reap");
	cr_expect_str_eq(text_at(row, "reason"), "due");
	cr_expect_str_eq(text_at(row, "rule"), "vite");
	cr_expect_str_eq(text_at(row, "orphan"), "yes");
	anchor = at(row, "anchor");
	cr_expect(json_object_get_int(at(anchor, "pid")) == 812 && !json_object_get_boolean(at(anchor, "alive")));
	cr_expect_str_eq(text_at(anchor, "kind"), "agent");
	holder = json_object_array_get_idx(at(row, "holders"), 0);
	cr_expect(json_object_get_int64(at(holder, "start")) == (int64_t)proc_ticks(stage.processes[SERVER].id.start_boot_ns));
	cr_expect_str_eq(text_at(holder, "exe"), "/usr/bin/node");
	cr_expect_str_eq(text_at(holder, "cgroup"), "/user.slice/x.scope");
	cr_expect_str_eq(text_at(holder, "user"), "root");
	cr_expect(json_object_array_length(at(holder, "argv")) == 3);
	cr_expect_str_eq(json_object_get_string(json_object_array_get_idx(at(holder, "argv"), 2)), "two words");
	cr_expect(json_object_get_boolean(at(at(row, "opener"), "alive")));
	row = json_object_array_get_idx(at(status, "listeners"), OWNED);
	cr_expect_str_eq(text_at(row, "family"), "ipv6");
	cr_expect(!json_object_get_boolean(at(row, "age_exact")));
	cr_expect(at(row, "rule") == NULL && at(row, "connections") == NULL && at(row, "orphaned_s") == NULL);
	row = json_object_array_get_idx(at(status, "listeners"), STRANGE);
	cr_expect_str_eq(text_at(row, "due_s"), "1.500");
}

Test(show, json_of_hostile_names)
{
	AUTO_STAGE stage;

	stage_open(&stage);
	AUTO_JSON status = status_json(&stage, LISTENER_COUNT, NULL, -1);
	struct json_object *holder = json_object_array_get_idx(at(json_object_array_get_idx(at(status, "listeners"), STRANGE), "holders"), 0);

	cr_expect_str_eq(text_at(holder, "comm"), "a\nb\x7f\xef\xbf\xbd");
	cr_expect_str_eq(json_object_get_string(json_object_array_get_idx(at(holder, "argv"), 0)), "x\x1b]0;t\x07");
	cr_expect_str_eq(json_object_get_string(json_object_array_get_idx(at(holder, "argv"), 1)), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	cr_expect_str_eq(json_object_get_string(json_object_array_get_idx(at(holder, "argv"), 2)), "\"q\"\\");
	cr_expect(at(holder, "exe") == NULL && at(holder, "cgroup") == NULL);
}

Test(show, json_without_listeners_is_an_empty_array)
{
	AUTO_STAGE stage;

	stage_open(&stage);
	AUTO_JSON status = status_json(&stage, 0, NULL, 0);

	cr_expect(json_object_array_length(at(status, "listeners")) == 0);
	cr_expect(json_object_array_length(at(status, "actions")) == 0);
}

static struct act act_of(void)
{
	return (struct act){
		.pid = { .tgid = 4711, .start_boot_ns = 5 * HOURS }, .uid = 1000, .comm = "no\"de\n", .rule = "vite",
		.address = { AF_INET, { 127, 0, 0, 1 } }, .port = 5173, .inode = 99, .age_ns = 3 * HOURS, .orphaned_ns = 2 * HOURS,
		.anchor = { .tgid = 812 }, .anchor_comm = "claude", .argv = "node vite\x1b", .outcome = OUTCOME_REAPED,
		.signal_order = { SIGTERM, SIGKILL }, .tree_size = 2, .took_ns = 120000000,
	};
}

Test(show, json_of_actions)
{
	struct act act = act_of();
	AUTO_STAGE stage;

	stage_open(&stage);
	AUTO_JSON sweep = status_json(&stage, 0, &act, 1);
	struct json_object *action = json_object_array_get_idx(at(sweep, "actions"), 0);

	cr_expect(json_object_get_int(at(action, "pid")) == 4711 && json_object_get_int(at(action, "port")) == 5173);
	cr_expect(json_object_get_int(at(action, "took_ms")) == 120);
	cr_expect_str_eq(text_at(action, "outcome"), "reaped");
	cr_expect_str_eq(json_object_to_json_string_ext(at(action, "signals"), JSON_C_TO_STRING_PLAIN), "[\"TERM\",\"KILL\"]");
}

/* An opener that was never recorded lives as long as it holds the socket itself. */
Test(show, json_of_an_unrecorded_opener)
{
	AUTO_STAGE stage;

	stage_open(&stage);
	stage.listeners[LEFT].opener = NONE;
	AUTO_JSON status = status_json(&stage, 1, NULL, -1);

	cr_expect(json_object_get_boolean(at(at(json_object_array_get_idx(at(status, "listeners"), 0), "opener"), "alive")));
	stage.listeners[LEFT].opener_id.start_boot_ns++;
	AUTO_JSON other = status_json(&stage, 1, NULL, -1);

	cr_expect(!json_object_get_boolean(at(at(json_object_array_get_idx(at(other, "listeners"), 0), "opener"), "alive")));
}

/* explain */

static char *explain(const struct stage *stage, int row, enum step step, const int *tree, int tree_count)
{
	struct capture capture;

	capture_start(&capture);
	explain_print(&stage->frame, &stage->rows[row], step, tree, tree_count, capture.out);
	return capture_end(&capture);
}

static struct json_object *explain_json(const struct stage *stage, int row, enum step step, const int *tree, int tree_count)
{
	struct capture capture;
	struct json_object *object;

	capture_start(&capture);
	explain_print_json(&stage->frame, &stage->rows[row], step, tree, tree_count, capture.out);
	AUTO_TEXT text = capture_end(&capture);

	object = json_tokener_parse(text);
	cr_assert(object != NULL, "%s", text);
	return object;
}

Test(show, explain_settles_it)
{
	static const char *const parts[] = {
		"127.0.0.1:5173", "reap (due)", "its agent claude(812) ended 2h 5m ago", "sh(4710)", "looked through: a wrapper", "ended 2h ago",
		"decides: the anchor, ended, an orphan", "does not: its port or scope", "does not: its script", "matches, and is the first that does",
		"1 for other programs: other", "listening 3h, orphaned 2h 5m", "action = kill, signal = TERM, grace = 10s", "eldest first", "'two words'",
		"what would change this",
	};
	static const int tree[] = { SERVER };
	AUTO_STAGE stage;

	stage_open(&stage);
	AUTO_TEXT text = explain(&stage, LEFT, STEP_LIMIT, tree, 1);

	for (size_t i = 0; i < COUNT_OF(parts); i++)
		cr_expect(has(text, parts[i]), "no `%s` in\n%s", parts[i], text);
	cr_expect(!has(text, "DECIDES") && !has(text, "note:"), "%s", text);
}

Test(show, explain_marks_the_step_that_decides)
{
	AUTO_STAGE stage;

	stage_open(&stage);
	AUTO_JSON object = explain_json(&stage, OWNED, STEP_RULE, NULL, 0);
	struct json_object *checks = at(object, "checks");

	cr_assert(json_object_array_length(checks) == STEP_MAX);
	for (size_t i = 0; i < STEP_MAX; i++)
		cr_expect_str_eq(text_at(json_object_array_get_idx(checks, i), "result"),
				 i < STEP_RULE ? "passed" : i == STEP_RULE ? "decided" : "not reached");
	cr_expect_str_eq(text_at(object, "verdict"), "spare");
	cr_expect_str_eq(text_at(object, "reason"), "no-rule");
	cr_expect(json_object_array_length(at(object, "rules")) == RULE_COUNT);
	cr_expect_str_eq(text_at(json_object_array_get_idx(at(object, "rules"), RULE_VITE), "failed"), "script");
	cr_expect_str_eq(text_at(json_object_array_get_idx(at(object, "rules"), RULE_OTHER), "failed"), "program");
}

Test(show, explain_points_to_an_unlisted_program)
{
	AUTO_STAGE stage;

	stage_open(&stage);
	AUTO_TEXT text = explain(&stage, STRANGE, STEP_RULE, NULL, 0);
	AUTO_TEXT owned = explain(&stage, OWNED, STEP_RULE, NULL, 0);

	cr_expect(has(text, "tool(6000) is in no list") && has(text, "[agents]"), "%s", text);
	cr_expect(is_harmless(text), "%s", text);
	cr_expect(!has(owned, "is in no list"), "%s", owned);
}

Test(show, explain_points_to_a_misspelt_marker_without_its_value)
{
	static const struct {
		const char *variable, *name;	/* NULL: nothing to point to */
	} rows[] = {
		{ "LISTENREAP_KEPT=secret", "LISTENREAP_KEPT" }, { "LISTENREAPKEEP=secret", "LISTENREAPKEEP" }, { "ISTENREAP_KEEP=secret", "ISTENREAP_KEEP" },
		{ "ENKINS_NODE_COOKIE=dontKillMe", "ENKINS_NODE_COOKIE" }, { "BUILDID=dontKillMe", "BUILDID" }, { "BUILD_ID=dontkillme", "BUILD_ID" },
		{ "RUNNER_TRACKINGID=secret", "RUNNER_TRACKINGID" }, { "LISTENREAP_KEEP=secret", NULL }, { "JENKINS_NODE_COOKIE=secret", NULL },
		{ "BUILD_ID=secret", NULL }, { "RUNNER_TRACKING_ID=secret", NULL }, { "PATH=secret", NULL }, { "nonsense", NULL }, { "=secret", NULL },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO_STAGE stage;

		stage_open(&stage);
		stage.processes[SERVER].environ = FACT_KNOWN;
		stage.processes[SERVER].environment = (struct argv){
			.bytes = rows[i].variable, .length = strlen(rows[i].variable) + 1, .is_known = true,
		};
		AUTO_TEXT text = explain(&stage, LEFT, STEP_LIMIT, NULL, 0);
		AUTO_JSON object = explain_json(&stage, LEFT, STEP_LIMIT, NULL, 0);

		cr_expect(!has(text, "secret") && !has(json_object_to_json_string(object), "secret"), "%s", text);
		if (rows[i].name) {
			cr_expect(has(text, "is no marker") && has(text, rows[i].name), "%s:\n%s", rows[i].variable, text);
			cr_expect_str_eq(text_at(object, "misspelt_marker"), rows[i].name);
		} else {
			cr_expect(!has(text, "is no marker") && at(object, "misspelt_marker") == NULL, "%s:\n%s", rows[i].variable, text);
		}
	}
}

/* The log: what arrives on a stderr that is a file. */

static char *logged(enum log_format format, void (*say)(const void *arg), const void *arg)
{
	char path[] = "/tmp/listenreap-show-XXXXXX", *text = calloc(1, 8192);
	int file = mkstemp(path), saved = dup(STDERR_FILENO);

	cr_assert(file >= 0 && saved >= 0 && text);
	fflush(stderr);
	dup2(file, STDERR_FILENO);
	log_open(format);
	say(arg);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	cr_assert(pread(file, text, 8191, 0) >= 0);
	close(saved);
	close(file);
	unlink(path);
	return text;
}

static void say_act(const void *arg)
{
	log_act(arg);
}

static void say_line(const void *arg)
{
	log_line(LEVEL_ERROR, "config: %s", (const char *)arg);
}

Test(show, log_of_an_act)
{
	struct act act = act_of(), silent = { .rule = "r", .outcome = OUTCOME_REFUSED, .why = "it has changed" };
	char wanted[512];

	snprintf(wanted, sizeof(wanted),
		 "<5>reaped pid=4711 start=%llu rule=\"vite\" comm=\"no\\\"de\\n\" uid=1000 addr=127.0.0.1:5173 scope=loopback inode=99 age=\"3h\" "
		 "orphaned=\"2h\" anchor=\"claude(812)\" signals=TERM,KILL processes=2 took=120ms argv=\"node vite\\e\"\n",
		 (unsigned long long)proc_ticks(act.pid.start_boot_ns));
	AUTO_TEXT text = logged(LOG_TEXT, say_act, &act);
	AUTO_TEXT refused = logged(LOG_TEXT, say_act, &silent);
	AUTO_TEXT json = logged(LOG_JSON, say_act, &act);
	AUTO_JSON object = json_tokener_parse(json);

	cr_expect_str_eq(text, wanted);
	cr_expect(strncmp(refused, "<4>refused ", 11) == 0 && has(refused, "why=\"it has changed\"\n"), "%s", refused);
	cr_assert(object != NULL, "%s", json);
	cr_expect_str_eq(text_at(object, "comm"), "no\"de\n");
	cr_expect_str_eq(text_at(object, "message"), "reaped");
	cr_expect(json_object_get_int(at(object, "level")) == LEVEL_NOTICE);
}

/* The longest and worst of everything is still one line. */
Test(show, log_of_a_hostile_act)
{
	struct act act = act_of();

	memset(act.comm, '\xff', sizeof(act.comm));
	memset(act.rule, '"', sizeof(act.rule));
	memset(act.argv, '\x1b', sizeof(act.argv));
	memset(act.why, '\n', sizeof(act.why));
	memset(act.anchor_comm, '\\', sizeof(act.anchor_comm));
	AUTO_TEXT text = logged(LOG_TEXT, say_act, &act);

	cr_expect(strchr(text, '\n') == text + strlen(text) - 1 && is_harmless(text), "%s", text);
}

Test(show, log_of_a_line)
{
	AUTO_TEXT text = logged(LOG_TEXT, say_line, "bad\nword\x1b");
	AUTO_TEXT json = logged(LOG_JSON, say_line, "bad\nword\x1b");
	AUTO_JSON object = json_tokener_parse(json);

	cr_expect_str_eq(text, "<3>config: bad\\x0aword\\x1b\n");
	cr_assert(object != NULL, "%s", json);
	cr_expect_str_eq(text_at(object, "message"), "config: bad\nword\x1b");
}
