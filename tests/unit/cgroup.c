/* SPDX-License-Identifier: GPL-2.0-only */
#include <criterion/criterion.h>
#include "../../user/judge/cgroup.h"

static const struct {
	const char *sentence, *lines;
	bool is_service, is_container;
} rows[] = {
	{ "a unit", "0::/system.slice/nginx.service\n", true, false },
	{ "a user's manager itself", "0::/user.slice/user-1000.slice/user@1000.service\n", false, false },
	{ "a service of a user's manager", "0::/user.slice/user-1000.slice/user@1000.service/app.slice/dev.service\n", true, false },
	{ "a scope of a user's manager", "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope\n", false, false },
	{ "a login session", "0::/user.slice/user-1000.slice/session-3.scope\n", false, false },
	{ "a scope within a service", "0::/system.slice/a.service/b.scope\n", false, false },
	{ "a service within a scope", "0::/a.scope/b.service\n", true, false },
	{ "the root", "0::/\n", false, false },
	{ "cgroup v1: one of many lines", "12:cpu:/\n1:name=systemd:/system.slice/cron.service\n", true, false },
	{ "docker by systemd", "0::/system.slice/docker-0a1b.scope\n", false, true },
	{ "docker by cgroupfs", "0::/docker/0a1b\n", false, true },
	{ "podman", "0::/user.slice/user@1000.service/user.slice/libpod-0a1b.scope\n", false, true },
	{ "kubernetes", "0::/kubepods.slice/kubepods-besteffort.slice/cri-containerd-0a.scope\n", false, true },
	{ "lxc", "0::/lxc.payload.web/init.scope\n", false, true },
	{ "docker's own daemon is no container", "0::/system.slice/docker.service\n", true, false },
	{ "a word that begins like docker", "0::/user.slice/dockerish.scope\n", false, false },
	{ "nothing", "", false, false },
	{ "no colons", "rubbish\n", false, false },
	{ "no newline at the end", "0::/system.slice/x.service", true, false },
	{ "an empty path", "0::\n", false, false },
};

Test(cgroup, each_path_is_what_it_is)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(cgroup_is_service(rows[i].lines), rows[i].is_service, "%s: service", rows[i].sentence);
		cr_expect_eq(cgroup_is_container(rows[i].lines), rows[i].is_container, "%s: container", rows[i].sentence);
	}
}
