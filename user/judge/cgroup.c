/* SPDX-License-Identifier: GPL-2.0-only */
#include <fnmatch.h>
#include <stddef.h>
#include <string.h>
#include "cgroup.h"

#define COMPONENT_MAX 256	/* NAME_MAX + 1: a cgroup is a directory */

/* Calls visit with each component of each line's path, outermost first; is_first at the start of a line. True ends it. */
static bool each_component(const char *lines, bool (*visit)(const char *component, bool is_first, void *arg), void *arg)
{
	while (*lines) {
		const char *end = strchrnul(lines, '\n'), *path = memchr(lines, ':', (size_t)(end - lines));

		path = path ? memchr(path + 1, ':', (size_t)(end - path - 1)) : NULL;
		for (bool is_first = true; path && path < end; is_first = false) {
			char component[COMPONENT_MAX];
			const char *start = path + 1, *stop = memchr(start, '/', (size_t)(end - start));
			size_t length;

			if (!stop)
				stop = end;
			length = (size_t)(stop - start);
			if (length < sizeof(component)) {
				memcpy(component, start, length);
				component[length] = '\0';
				if (visit(component, is_first, arg))
					return true;
			}
			path = stop;
		}
		lines = *end ? end + 1 : end;
	}
	return false;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), wanted = strlen(end);

	return length > wanted && strcmp(text + length - wanted, end) == 0;
}

struct innermost {
	bool is_service;	/* of the line being read */
	bool has_service;	/* of some line before */
};

static bool note_unit(const char *component, bool is_first, void *arg)
{
	struct innermost *unit = arg;

	if (is_first) {
		unit->has_service |= unit->is_service;
		unit->is_service = false;
	}
	if (ends_with(component, ".scope"))
		unit->is_service = false;
	else if (ends_with(component, ".service"))
		unit->is_service = fnmatch("user@*.service", component, 0) != 0;
	return false;
}

bool cgroup_is_service(const char *lines)
{
	struct innermost unit = { 0 };

	each_component(lines, note_unit, &unit);
	return unit.has_service || unit.is_service;
}

static bool names_container(const char *component, bool is_first, void *arg)
{
	static const char *const globs[] = {
		"docker", "docker-*.scope", "libpod*", "podman-*.scope", "machine-libpod*", "kubepods*", "lxc", "lxc.payload*",
		"lxc.monitor*", "crio-*", "cri-containerd*", "nerdctl-*", "containerd-*.scope",
	};

	(void)is_first;
	(void)arg;
	for (size_t i = 0; i < sizeof(globs) / sizeof(globs[0]); i++)
		if (fnmatch(globs[i], component, 0) == 0)
			return true;
	return false;
}

bool cgroup_is_container(const char *lines)
{
	return each_component(lines, names_container, NULL);
}
