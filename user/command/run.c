/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include "../observe/anchors.h"
#include "../observe/proc.h"
#include "../show/log.h"
#include "../show/notify.h"
#include "command.h"

/*
 * The loop sleeps until something can become due: the nearest due time, the end of an ancestor that holds back a stale listener, the
 * first listen() after it armed its flag. An orphan that is spared for a passing reason (in use, protected, ...) is looked at again
 * after RECHECK_NS, for nothing announces that a client leaves. With none of these it sleeps for ever.
 */
#define RECHECK_NS (30 * NS_PER_SEC)
#define LIMITED_NS (1 * NS_PER_SEC)	/* the rest of a sweep that max-reaps cut */

enum source { SOURCE_SIGNAL, SOURCE_TIMER, SOURCE_WATCHDOG, SOURCE_LISTEN, SOURCE_REAPER, SOURCE_ANCHOR };

struct loop {
	const struct invocation *invocation;
	struct session session;
	struct reaper *reaper;
	int epoll_fd, signal_fd, timer_fd, watchdog_fd;
	struct anchors *anchors;
	uint64_t next_boot_ns;		/* when the timer goes off; UINT64_MAX never */
	uint64_t shortest_stale_ns;	/* of all rules: nothing new is due before that */
	uint64_t reaped, survived, sweeps;
	int listeners, waiting;
	bool wants_reload, is_stopping, is_broken;
};

static void note_act(const struct act *act, void *arg)
{
	struct loop *loop = arg;

	loop->reaped += act->outcome == OUTCOME_REAPED;
	loop->survived += act->outcome == OUTCOME_SURVIVED;
	log_act(act);
}

static int watch_fd(const struct loop *loop, int fd, enum source source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = (uint64_t)source };

	return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static uint64_t shortest_stale(const struct ruleset *ruleset)
{
	uint64_t shortest = UINT64_MAX;

	for (size_t i = 0; i < ruleset->rule_count; i++)
		for (int scope = 0; scope < SCOPE_MAX; scope++)
			if (ruleset->rules[i].action == RULE_KILL && ruleset->rules[i].stale_after_ns[scope] < shortest)
				shortest = ruleset->rules[i].stale_after_ns[scope];
	return shortest;
}

static void set_timer(struct loop *loop, uint64_t at_boot_ns)
{
	struct itimerspec spec = { 0 };

	loop->next_boot_ns = at_boot_ns;
	if (at_boot_ns != UINT64_MAX) {
		at_boot_ns += at_boot_ns == 0;	/* zero would disarm it */
		spec.it_value.tv_sec = (time_t)(at_boot_ns / NS_PER_SEC);
		spec.it_value.tv_nsec = (long)(at_boot_ns % NS_PER_SEC);
	}
	timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void sooner(uint64_t *at_boot_ns, uint64_t candidate)
{
	if (candidate < *at_boot_ns)
		*at_boot_ns = candidate;
}

/* When must it be looked at again? */
static int plan(struct loop *loop, const struct world *world, const struct verdict *verdict, uint64_t now_boot_ns, uint64_t *next_boot_ns)
{
	const struct ruleset *ruleset = config_ruleset(loop->session.config);
	int err = 0;

	if (verdict->kind == VERDICT_WAIT) {
		loop->waiting++;
		sooner(next_boot_ns, verdict->reason == REASON_LIMIT ? now_boot_ns + LIMITED_NS : verdict->due_boot_ns);
		return 0;
	}
	if (verdict->kind != VERDICT_SPARE || verdict->rule == NONE || ruleset->rules[verdict->rule].action == RULE_REPORT)
		return 0;
	switch (verdict->reason) {
	case REASON_ANCHOR_ALIVE:
		err = anchors_want(loop->anchors, world, verdict);
		if (err == -ESRCH)
			sooner(next_boot_ns, now_boot_ns);	/* it has just ended: look again at once */
		return err == -ESRCH ? 0 : err;
	case REASON_IN_USE:
	case REASON_PROTECTED:
	case REASON_OPT_OUT:
	case REASON_OTHER_USER:
	case REASON_FOREIGN_HOLDER:
	case REASON_UNREADABLE:
	case REASON_FLOOR:
		if (verdict->orphan == ORPHAN_YES || ruleset->rules[verdict->rule].orphan != RULE_ORPHAN_YES)
			sooner(next_boot_ns, now_boot_ns + RECHECK_NS);
		return 0;
	default:
		return 0;
	}
}

static int sweep_listener(struct loop *loop, struct observation *observation, int index, uint64_t now_boot_ns, uint64_t *next_boot_ns)
{
	const struct ruleset *ruleset = config_ruleset(loop->session.config);
	struct world *world = observation_world(observation);
	uint64_t earliest = policy_earliest_due(ruleset, &world->listeners[index]);
	int *tree = NULL, tree_count = 0, err;
	struct verdict verdict;
	enum step step;

	if (reaper_is_at(loop->reaper, world->listeners[index].inode))
		return 0;
	if (earliest > now_boot_ns) {
		sooner(next_boot_ns, earliest);
		return 0;
	}
	err = observation_judge(observation, ruleset, now_boot_ns, index, &verdict, &step, &tree, &tree_count);
	if (err == 0 && verdict.kind == VERDICT_REAP) {
		policy_count_due(world, tree, tree_count);
		err = reaper_reap(loop->reaper, observation, index, &verdict, tree, tree_count);
		sooner(next_boot_ns, now_boot_ns + RECHECK_NS);	/* should it survive */
	} else if (err == 0) {
		err = plan(loop, world, &verdict, now_boot_ns, next_boot_ns);
	}
	free(tree);
	return err;
}

static int sweep(struct loop *loop, struct failure *ret_failure)
{
	uint64_t next_boot_ns = UINT64_MAX, now_boot_ns;
	struct observation *observation;
	struct world *world;
	int wake_fd, err;

	/* Armed before the snapshot: a listen() in between costs one sweep more, never a missed one. */
	err = tracker_drain(loop->session.tracker);
	if (err == 0)
		err = tracker_arm(loop->session.tracker, &wake_fd, ret_failure);
	if (err < 0)
		return err;
	err = observation_take(loop->session.tracker, loop->session.proc_fd, &observation, ret_failure);
	if (err < 0)
		return err;
	world = observation_world(observation);
	now_boot_ns = observation_boot_ns(observation);
	loop->sweeps++;
	loop->waiting = 0;
	loop->listeners = world->listener_count;
	anchors_start(loop->anchors);
	for (int i = 0; i < world->listener_count && err == 0; i++)
		err = sweep_listener(loop, observation, i, now_boot_ns, &next_boot_ns);
	anchors_finish(loop->anchors);
	if (err == 0)
		err = reaper_commit(loop->reaper);
	observation_free(observation);
	if (err < 0)
		return failure_set(ret_failure, err, "cannot sweep: %s", strerror(-err));
	set_timer(loop, next_boot_ns);
	return 0;
}

/* A sweep that fails is logged, and tried again after a while: a passing lack of memory must not end the daemon. */
static void sweep_or_log(struct loop *loop)
{
	struct failure failure = { 0 };

	if (sweep(loop, &failure) == 0)
		return;
	log_line(LEVEL_ERROR, "%s; trying again in %d s", failure.text, (int)(RECHECK_NS / NS_PER_SEC));
	set_timer(loop, clock_boot_ns() + RECHECK_NS);
	if (failure.err == -ENOENT || failure.err == -EBADMSG || failure.err == -ESTALE)
		loop->is_broken = true;
}

static void tell_status(const struct loop *loop)
{
	char text[160], next[DURATION_TEXT_SIZE] = "";
	uint64_t now = clock_boot_ns();
	bool has_next = loop->next_boot_ns != UINT64_MAX;

	if (has_next)
		duration_format(loop->next_boot_ns > now ? loop->next_boot_ns - now : 0, next);
	snprintf(text, sizeof(text), "%d listeners, %d waiting, %" PRIu64 " reaped, %" PRIu64 " survived, %s%s", loop->listeners,
		 loop->waiting, loop->reaped, loop->survived, has_next ? "next look in " : "nothing can become due", next);
	notify_send("STATUS=%s", text);
	log_line(LEVEL_INFO, "%s", text);
}

/* The old config stays when the new one is bad. Waits for the reaper, which still needs the old rules. */
static void reload(struct loop *loop)
{
	struct failure failure = { 0 };
	struct config *config;

	loop->wants_reload = false;
	if (config_load(loop->invocation->config_path, &config, &failure) < 0) {
		log_line(LEVEL_ERROR, "%s; the config from before stays in force", failure.text);
		return;
	}
	config_free(loop->session.config);
	loop->session.config = config;
	loop->shortest_stale_ns = shortest_stale(config_ruleset(config));
	reaper_set_ruleset(loop->reaper, config_ruleset(config));
	log_line(LEVEL_NOTICE, "config re-read from %s", config_origin(config));
	sweep_or_log(loop);
}

static void take_signal(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (read(loop->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGHUP: loop->wants_reload = true; break;
		case SIGUSR1: tell_status(loop); break;
		default: loop->is_stopping = true;
		}
	}
}

static void take_expiry(int fd)
{
	uint64_t expiries;

	(void)!read(fd, &expiries, sizeof(expiries));
}

/* A listener that has just opened is due no sooner than the shortest stale-after from now. */
static void take_listen(struct loop *loop)
{
	uint64_t due = clock_boot_ns();

	tracker_drain(loop->session.tracker);
	if (loop->shortest_stale_ns == UINT64_MAX)
		return;
	due += loop->shortest_stale_ns;
	if (due < loop->next_boot_ns)
		set_timer(loop, due);
}

static uint64_t monotonic_usec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Takes what is ready; whether to sweep. */
static bool take_event(struct loop *loop, enum source source)
{
	switch (source) {
	case SOURCE_SIGNAL: take_signal(loop); return false;
	case SOURCE_TIMER: take_expiry(loop->timer_fd); return true;
	case SOURCE_WATCHDOG: take_expiry(loop->watchdog_fd); notify_send("WATCHDOG=1"); return false;
	case SOURCE_LISTEN: take_listen(loop); return false;
	case SOURCE_REAPER: return false;
	case SOURCE_ANCHOR: anchors_drain(loop->anchors); return true;
	}
	return false;
}

static int wait_ms(const struct loop *loop)
{
	uint64_t deadline = reaper_deadline_ns(loop->reaper), now = clock_boot_ns();

	if (deadline == UINT64_MAX)
		return -1;
	if (deadline <= now)
		return 0;
	return (deadline - now) / 1000000 >= INT_MAX ? INT_MAX : (int)((deadline - now) / 1000000) + 1;
}

static int loop_round(struct loop *loop)
{
	struct epoll_event events[32];
	bool wants_sweep = false;
	int ready = epoll_wait(loop->epoll_fd, events, sizeof(events) / sizeof(events[0]), wait_ms(loop)), err;

	if (ready < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < ready; i++)
		wants_sweep |= take_event(loop, (enum source)events[i].data.u64);
	err = reaper_step(loop->reaper, clock_boot_ns());
	if (err < 0)
		log_line(LEVEL_ERROR, "cannot follow what was signalled: %s", strerror(-err));
	if (wants_sweep && !loop->is_stopping)
		sweep_or_log(loop);
	if (loop->wants_reload && reaper_is_idle(loop->reaper)) {
		notify_send("RELOADING=1\nMONOTONIC_USEC=%" PRIu64, monotonic_usec());
		reload(loop);
		notify_send("READY=1");
	}
	return 0;
}

/* One run a pin directory: a lock on it that dies with us. */
static int take_lock(struct loop *loop)
{
	ino_t inode = 0;
	pid_t owner;
	int err = tracker_lock_run(loop->session.tracker, &inode);

	if (err == -EWOULDBLOCK && proc_find_lock_owner(loop->session.proc_fd, inode, &owner) == 0)
		command_say("run: process %d already runs on %s; stop it first, or use another --pin-dir", owner, loop->invocation->pin_dir);
	else if (err == -EWOULDBLOCK)
		command_say("run: another process already runs on %s; stop it first, or use another --pin-dir", loop->invocation->pin_dir);
	else if (err < 0)
		command_say("run: cannot lock %s: %s", loop->invocation->pin_dir, strerror(-err));
	return err;
}

static int loop_open(struct loop *loop)
{
	struct reaper_options options = {
		.tracker = loop->session.tracker, .proc_fd = loop->session.proc_fd, .ruleset = config_ruleset(loop->session.config),
		.is_dry_run = loop->invocation->is_dry_run, .done = note_act, .arg = loop,
	};
	uint64_t watchdog_ns = notify_watchdog_ns();
	struct failure failure = { 0 };
	int wake_fd = -1, err;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	loop->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (loop->epoll_fd < 0 || loop->signal_fd < 0 || loop->timer_fd < 0)
		return -errno;
	err = reaper_open(&options, &loop->reaper);
	if (err == 0)
		err = tracker_arm(loop->session.tracker, &wake_fd, &failure);
	if (err == 0)
		err = anchors_open(loop->session.proc_fd, &loop->anchors);
	if (err == 0)
		err = watch_fd(loop, anchors_fd(loop->anchors), SOURCE_ANCHOR);
	if (err == 0)
		err = watch_fd(loop, loop->signal_fd, SOURCE_SIGNAL);
	if (err == 0)
		err = watch_fd(loop, loop->timer_fd, SOURCE_TIMER);
	if (err == 0)
		err = watch_fd(loop, wake_fd, SOURCE_LISTEN);
	if (err == 0)
		err = watch_fd(loop, reaper_fd(loop->reaper), SOURCE_REAPER);
	if (err == 0 && watchdog_ns > 0) {
		struct itimerspec every = {
			.it_interval = { (time_t)(watchdog_ns / NS_PER_SEC), (long)(watchdog_ns % NS_PER_SEC) },
		};

		every.it_value = every.it_interval;
		loop->watchdog_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		if (loop->watchdog_fd < 0 || timerfd_settime(loop->watchdog_fd, 0, &every, NULL) < 0)
			return -errno;
		err = watch_fd(loop, loop->watchdog_fd, SOURCE_WATCHDOG);
	}
	return err;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void loop_close(struct loop *loop)
{
	anchors_close(loop->anchors);
	reaper_close(loop->reaper);
	close_fd(loop->watchdog_fd);
	close_fd(loop->timer_fd);
	close_fd(loop->signal_fd);
	close_fd(loop->epoll_fd);
	session_close(&loop->session);
}

int command_run(const struct invocation *invocation)
{
	struct loop loop = {
		.invocation = invocation, .epoll_fd = -1, .signal_fd = -1, .timer_fd = -1, .watchdog_fd = -1,
		.next_boot_ns = UINT64_MAX,
	};
	int code, err = 0;

	log_open(invocation->is_log_json ? LOG_JSON : LOG_TEXT);
	code = session_open(invocation, true, &loop.session);
	if (code == EXIT_DONE && take_lock(&loop) < 0)
		code = EXIT_FAILED;
	if (code == EXIT_DONE) {
		loop.shortest_stale_ns = shortest_stale(config_ruleset(loop.session.config));
		err = loop_open(&loop);
		if (err == 0) {
			sweep_or_log(&loop);
			notify_send("READY=1");
			tell_status(&loop);
		}
		while (err == 0 && !loop.is_stopping && !loop.is_broken)
			err = loop_round(&loop);
		notify_send("STOPPING=1");
		if (err < 0)
			log_line(LEVEL_ERROR, "run: %s", strerror(-err));
		code = err < 0 || loop.is_broken ? EXIT_FAILED : EXIT_DONE;
	}
	loop_close(&loop);
	return code;
}
