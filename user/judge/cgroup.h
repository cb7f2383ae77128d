/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/* What /proc/PID/cgroup (cgroups(7): lines of ID:CONTROLLERS:PATH, all hierarchies) says of who runs a process. Pure. */
#include <stdbool.h>

/* The innermost .service or .scope of some line's path is a .service other than user@N.service (systemd.unit(5)). */
bool cgroup_is_service(const char *lines);
/* A path component of docker, podman (libpod), kubepods, lxc, containerd or cri-o names a container. */
bool cgroup_is_container(const char *lines);
