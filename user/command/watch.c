/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include "../observe/anchors.h"
#include "../observe/watcher.h"
#include "../show/json.h"
#include "../show/text.h"
#include "judged.h"

/* Changes that come within this time of each other are one look. */
#define GATHER_MS 10

/* What was last said of one listener, and what its last line will need. */
struct seen {
	uint64_t inode, opened_boot_ns;
	uint32_t netns;
	bool is_orphan, is_there;
	struct json_object *object;	/* as last shown */
	char line[256];
};

struct watch_loop {
	const struct invocation *invocation;
	struct session session;
	struct watcher *watcher;
	struct anchors *anchors;
	int signal_fd;
	struct seen *seen;
	int count, room;
	bool is_first, is_stopping;
};

static void say(const struct watch_loop *loop, const char *event, const struct seen *seen)
{
	char moment[40];
	struct timespec now;
	struct tm at;

	clock_gettime(CLOCK_REALTIME, &now);
	if (loop->invocation->is_json) {
		struct json_object *line = json_object_new_object();

		gmtime_r(&now.tv_sec, &at);
		strftime(moment, sizeof(moment), "%Y-%m-%dT%H:%M:%SZ", &at);
		json_object_object_add(line, "time", json_string(moment));
		json_object_object_add(line, "event", json_string(event));
		json_object_object_foreach(seen->object, key, value)
			json_object_object_add(line, key, json_object_get(value));
		json_write(line, stdout);
		putchar('\n');
	} else {
		localtime_r(&now.tv_sec, &at);
		strftime(moment, sizeof(moment), "%H:%M:%S", &at);
		printf("%s %-8s %s\n", moment, event, seen->line);
	}
}

static void say_missed(const struct watch_loop *loop, uint64_t missed)
{
	if (loop->invocation->is_json)
		printf("{\"event\":\"missed\",\"count\":%llu}\n", (unsigned long long)missed);
	else
		printf("         missed   %llu changes came faster than they were read\n", (unsigned long long)missed);
}

static struct seen *find_seen(struct watch_loop *loop, const struct listener *listener)
{
	for (int i = 0; i < loop->count; i++) {
		struct seen *seen = &loop->seen[i];

		if (seen->inode == listener->inode && seen->netns == listener->netns && seen->opened_boot_ns == listener->opened_boot_ns)
			return seen;
	}
	return NULL;
}

static struct seen *add_seen(struct watch_loop *loop, const struct listener *listener)
{
	if (loop->count == loop->room) {
		int room = loop->room ? loop->room * 2 : 32;
		struct seen *seen = realloc(loop->seen, (size_t)room * sizeof(*seen));

		if (!seen)
			return NULL;
		loop->seen = seen;
		loop->room = room;
	}
	loop->seen[loop->count] = (struct seen){
		.inode = listener->inode, .netns = listener->netns, .opened_boot_ns = listener->opened_boot_ns,
	};
	return &loop->seen[loop->count++];
}

static void describe(const struct status_frame *frame, const struct status_row *row, struct seen *seen)
{
	const struct world *world = observation_world(frame->observation);
	const struct listener *listener = &world->listeners[row->listener];
	const struct verdict *verdict = &row->verdict;
	char address[ADDR_TEXT_SIZE], holder[160], anchor[160] = "owner not known";

	text_process(&world->processes[world->holders[listener->first_holder].process], holder, sizeof(holder));
	if (verdict->walk.anchor != NONE)
		text_process(&world->processes[verdict->walk.anchor], anchor, sizeof(anchor));
	json_object_put(seen->object);
	seen->object = json_listener(frame, row);
	snprintf(seen->line, sizeof(seen->line), "%-24s %-8s %s, %s%s", addr_format_port(&listener->address, listener->port, address),
		 scope_names[addr_scope(&listener->address, listener->bound_dev)], holder, verdict->walk.anchor == NONE ? "" : "owner ", anchor);
}

/* One look: what is new, what is an orphan now, what is gone. */
static int look(struct watch_loop *loop, struct failure *ret_failure)
{
	struct judged judged = { 0 };
	struct status_frame frame;
	struct world *world;
	int kept = 0, err;

	err = judged_take(&loop->session, NULL, &judged, ret_failure);
	if (err < 0)
		return err;
	frame = judged_frame(&loop->session, &judged, false);
	world = observation_world(judged.observation);
	for (int i = 0; i < loop->count; i++)
		loop->seen[i].is_there = false;
	anchors_start(loop->anchors);
	for (int i = 0; i < judged.count && err == 0; i++) {
		const struct status_row *row = &judged.rows[i];
		struct seen *seen = find_seen(loop, &world->listeners[row->listener]);
		bool is_orphan = row->verdict.orphan == ORPHAN_YES, is_new = !seen;

		if (row->verdict.reason == REASON_NO_HOLDER)
			continue;
		if (is_new)
			seen = add_seen(loop, &world->listeners[row->listener]);
		if (!seen) {
			err = failure_set(ret_failure, -ENOMEM, "out of memory for %d listeners", loop->count);
			break;
		}
		seen->is_there = true;
		describe(&frame, row, seen);
		if (is_new && !loop->is_first)
			say(loop, "opened", seen);
		if (is_orphan && !seen->is_orphan && !loop->is_first)
			say(loop, "orphaned", seen);
		seen->is_orphan = is_orphan;
		if (!is_orphan && anchors_want(loop->anchors, world, &row->verdict) == -ENOMEM)
			err = failure_set(ret_failure, -ENOMEM, "out of memory");
	}
	anchors_finish(loop->anchors);
	for (int i = 0; i < loop->count; i++) {
		if (loop->seen[i].is_there) {
			loop->seen[kept++] = loop->seen[i];
			continue;
		}
		say(loop, "closed", &loop->seen[i]);
		json_object_put(loop->seen[i].object);
	}
	loop->count = kept;
	loop->is_first = false;
	judged_free(&judged);
	return err;
}

/* Waits for something to change; -1 on a signal to stop. */
static int wait_for_change(struct watch_loop *loop, int timeout_ms)
{
	struct pollfd waits[] = {
		{ .fd = loop->signal_fd, .events = POLLIN },
		{ .fd = watcher_fd(loop->watcher), .events = POLLIN },
		{ .fd = anchors_fd(loop->anchors), .events = POLLIN },
		{ .fd = STDOUT_FILENO, .events = 0 },	/* a reader that left */
	};

	if (poll(waits, sizeof(waits) / sizeof(waits[0]), timeout_ms) < 0)
		return errno == EINTR ? 0 : -errno;
	if (waits[0].revents || waits[3].revents & (POLLERR | POLLHUP))
		loop->is_stopping = true;
	else if (waits[1].revents || waits[2].revents)
		poll(waits, 1, GATHER_MS);
	anchors_drain(loop->anchors);
	return 0;
}

static int watch_open(const struct invocation *invocation, struct watch_loop *loop)
{
	struct failure failure = { 0 };
	sigset_t signals;
	int code;

	*loop = (struct watch_loop){ .invocation = invocation, .signal_fd = -1, .is_first = true };
	code = session_open(invocation, false, &loop->session);
	if (code != EXIT_DONE)
		return code;
	if (watcher_open(&loop->watcher, &failure) < 0)
		return command_fail(&failure);
	if (anchors_open(loop->session.proc_fd, &loop->anchors) < 0)
		return EXIT_FAILED;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	loop->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return loop->signal_fd < 0 ? EXIT_FAILED : EXIT_DONE;
}

static void watch_close(struct watch_loop *loop)
{
	for (int i = 0; i < loop->count; i++)
		json_object_put(loop->seen[i].object);
	free(loop->seen);
	anchors_close(loop->anchors);
	watcher_close(loop->watcher);
	if (loop->signal_fd >= 0)
		close(loop->signal_fd);
	session_close(&loop->session);
}

int command_watch(const struct invocation *invocation)
{
	struct failure failure = { 0 };
	struct watch_loop loop;
	int code = watch_open(invocation, &loop), err = 0;

	while (code == EXIT_DONE && !loop.is_stopping && err >= 0) {
		uint64_t missed;

		err = watcher_drain(loop.watcher, &missed);
		if (err == 0 && missed > 0)
			say_missed(&loop, missed);
		if (err == 0)
			err = look(&loop, &failure);
		if (err == 0 && fflush(stdout) != 0)
			break;	/* nobody reads any more */
		if (err == 0)
			err = wait_for_change(&loop, -1);
	}
	if (err < 0)
		code = failure.err ? command_fail(&failure) : EXIT_FAILED;
	clearerr(stdout);
	watch_close(&loop);
	return code;
}

/* The alternate screen and no echo: what was there before comes back. */
static bool enter_screen(struct termios *ret_before)
{
	struct termios raw;

	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, ret_before) < 0)
		return false;
	raw = *ret_before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs("\033[?1049h\033[?25l", stdout);
	return true;
}

static void leave_screen(const struct termios *before)
{
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, before);
}

static int redraw(struct watch_loop *loop, bool is_screen, struct failure *ret_failure)
{
	struct judged judged = { 0 };
	struct status_frame frame;
	int err = judged_take(&loop->session, &loop->invocation->filter, &judged, ret_failure);

	if (err < 0)
		return err;
	frame = judged_frame(&loop->session, &judged, !loop->invocation->has_no_header);
	anchors_start(loop->anchors);
	for (int i = 0; i < judged.count; i++)
		anchors_want(loop->anchors, observation_world(judged.observation), &judged.rows[i].verdict);
	anchors_finish(loop->anchors);
	if (is_screen)
		fputs("\033[H\033[J", stdout);
	status_print_table(&frame, judged.rows, judged.count, stdout);
	if (!is_screen)
		putchar('\n');
	judged_free(&judged);
	return 0;
}

int command_status_watch(const struct invocation *invocation)
{
	struct failure failure = { 0 };
	struct termios before;
	struct watch_loop loop;
	int code = watch_open(invocation, &loop), err = 0;
	bool is_screen = code == EXIT_DONE && enter_screen(&before);

	while (code == EXIT_DONE && !loop.is_stopping && err >= 0) {
		struct pollfd key = { .fd = STDIN_FILENO, .events = POLLIN };
		uint64_t missed;
		char letter;

		err = watcher_drain(loop.watcher, &missed);
		if (err == 0)
			err = redraw(&loop, is_screen, &failure);
		if (err == 0 && fflush(stdout) != 0)
			break;
		/* Ages grow: on a screen they are looked at again now and then. */
		if (err == 0)
			err = wait_for_change(&loop, is_screen ? 1000 : -1);
		if (is_screen && poll(&key, 1, 0) == 1 && read(STDIN_FILENO, &letter, 1) == 1 && (letter == 'q' || letter == 'Q'))
			break;
	}
	if (is_screen)
		leave_screen(&before);
	if (err < 0)
		code = failure.err ? command_fail(&failure) : EXIT_FAILED;
	clearerr(stdout);
	watch_close(&loop);
	return code;
}
