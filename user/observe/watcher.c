/* SPDX-License-Identifier: GPL-2.0-only */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "watch.skel.h"
#include "watcher.h"

struct watcher {
	struct watch *skeleton;
	struct ring_buffer *ring;
	uint64_t missed;
};

static int stay_silent(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level;
	(void)format;
	(void)arguments;
	return 0;
}

static int ignore(void *arg, void *record, size_t size)
{
	(void)arg;
	(void)record;
	(void)size;
	return 0;
}

static int start(struct watcher *watcher)
{
	libbpf_set_print(stay_silent);
	watcher->skeleton = watch__open_and_load();
	if (!watcher->skeleton)
		return -errno;
	watcher->skeleton->links.report_change = bpf_program__attach_trace(watcher->skeleton->progs.report_change);
	if (!watcher->skeleton->links.report_change)
		return -errno;
	watcher->ring = ring_buffer__new(bpf_map__fd(watcher->skeleton->maps.changes), ignore, NULL, NULL);
	return watcher->ring ? 0 : -errno;
}

int watcher_open(struct watcher **ret, struct failure *ret_failure)
{
	struct watcher *watcher = calloc(1, sizeof(*watcher));
	int err = watcher ? start(watcher) : -ENOMEM;

	if (err < 0) {
		watcher_close(watcher);
		return failure_set(ret_failure, err, "cannot watch: %s%s", strerror(-err), err == -EPERM ? "; run as root" : "");
	}
	*ret = watcher;
	return 0;
}

void watcher_close(struct watcher *watcher)
{
	if (!watcher)
		return;
	ring_buffer__free(watcher->ring);
	watch__destroy(watcher->skeleton);
	free(watcher);
}

int watcher_fd(const struct watcher *watcher)
{
	return ring_buffer__epoll_fd(watcher->ring);
}

int watcher_drain(struct watcher *watcher, uint64_t *ret_missed)
{
	uint64_t missed = 0;
	__u32 zero = 0;
	int err = ring_buffer__consume(watcher->ring);

	if (err < 0)
		return err;
	if (bpf_map_lookup_elem(bpf_map__fd(watcher->skeleton->maps.missed), &zero, &missed) < 0)
		return -errno;
	*ret_missed = missed - watcher->missed;
	watcher->missed = missed;
	return 0;
}
