/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "anchors.h"
#include "pidref.h"

struct watched {
	struct pidref ref;
	bool is_wanted;
};

struct anchors {
	int proc_fd, epoll_fd;
	struct watched *watched;
	int count, room;
};

int anchors_open(int proc_fd, struct anchors **ret)
{
	struct anchors *anchors = calloc(1, sizeof(*anchors));

	if (!anchors)
		return -ENOMEM;
	anchors->proc_fd = proc_fd;
	anchors->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (anchors->epoll_fd < 0) {
		free(anchors);
		return -errno;
	}
	*ret = anchors;
	return 0;
}

void anchors_close(struct anchors *anchors)
{
	if (!anchors)
		return;
	for (int i = 0; i < anchors->count; i++)
		pidref_close(&anchors->watched[i].ref);
	free(anchors->watched);
	close(anchors->epoll_fd);
	free(anchors);
}

int anchors_fd(const struct anchors *anchors)
{
	return anchors->epoll_fd;
}

void anchors_drain(struct anchors *anchors)
{
	struct epoll_event events[32];

	while (epoll_wait(anchors->epoll_fd, events, 32, 0) == 32)
		;
}

void anchors_start(struct anchors *anchors)
{
	for (int i = 0; i < anchors->count; i++)
		anchors->watched[i].is_wanted = false;
}

static int want(struct anchors *anchors, struct process_id id)
{
	/* A pidfd stays readable: once is enough, or a look that fails would spin. */
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT };
	struct watched *watched;
	struct pidref ref;
	int err;

	for (int i = 0; i < anchors->count; i++) {
		if (anchors->watched[i].ref.id.tgid == id.tgid && anchors->watched[i].ref.id.start_boot_ns == id.start_boot_ns) {
			anchors->watched[i].is_wanted = true;
			return 0;
		}
	}
	if (anchors->count == anchors->room) {
		int room = anchors->room ? anchors->room * 2 : 16;

		watched = realloc(anchors->watched, (size_t)room * sizeof(*watched));
		if (!watched)
			return -ENOMEM;
		anchors->watched = watched;
		anchors->room = room;
	}
	err = pidref_pin(anchors->proc_fd, id, &ref);
	if (err < 0)
		return err;
	if (epoll_ctl(anchors->epoll_fd, EPOLL_CTL_ADD, ref.fd, &event) < 0) {
		err = -errno;
		pidref_close(&ref);
		return err;
	}
	anchors->watched[anchors->count++] = (struct watched){ .ref = ref, .is_wanted = true };
	return 0;
}

int anchors_want(struct anchors *anchors, const struct world *world, const struct verdict *verdict)
{
	int process = verdict->decider;

	for (int guard = 0; process != NONE && guard < world->process_count; guard++) {
		const struct process *subject = &world->processes[process];
		int err = subject->end_boot_ns == 0 && subject->id.tgid != 1 ? want(anchors, subject->id) : 0;

		if (err < 0)
			return err;
		if (process == verdict->walk.anchor)
			break;
		process = subject->birth_parent;
	}
	return 0;
}

/* Closing a pidfd takes it out of the epoll set. */
void anchors_finish(struct anchors *anchors)
{
	int kept = 0;

	for (int i = 0; i < anchors->count; i++) {
		if (anchors->watched[i].is_wanted)
			anchors->watched[kept++] = anchors->watched[i];
		else
			pidref_close(&anchors->watched[i].ref);
	}
	anchors->count = kept;
}
