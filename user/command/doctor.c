/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <sys/utsname.h>
#include "command.h"

struct visit {
	bool is_blind;
};

static void print_probe(const struct tracker_probe *probe, void *arg)
{
	struct visit *visit = arg;
	const char *state = probe->is_ok ? "ok" : probe->is_required ? "MISSING" : "without";

	visit->is_blind |= probe->is_required && !probe->is_ok;
	printf("%-8s %s%s%s\n", state, probe->name, probe->is_ok ? "" : ": ", probe->is_ok ? "" : probe->remedy);
}

int command_doctor(const struct invocation *invocation)
{
	struct visit visit = { 0 };
	struct utsname host;

	if (uname(&host) == 0)
		printf("%-8s %s %s %s\n", "kernel", host.sysname, host.release, host.machine);
	if (tracker_probe(invocation->pin_dir, print_probe, &visit) < 0)
		return EXIT_FAILED;
	return visit.is_blind ? EXIT_BLIND : EXIT_DONE;
}
