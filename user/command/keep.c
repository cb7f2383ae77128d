/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"

/* ":8080" or "8080"; 0 when it is neither. */
static uint16_t parse_port(const char *text)
{
	unsigned long port;
	char *end;

	text += *text == ':';
	if (*text < '0' || *text > '9')
		return 0;
	port = strtoul(text, &end, 10);
	return *end || port > UINT16_MAX ? 0 : (uint16_t)port;
}

static int list(struct tracker *tracker)
{
	uint64_t now = clock_boot_ns();
	uint16_t port = 0;
	int err;

	for (err = tracker_next_keep(tracker, NULL, &port); err == 0; err = tracker_next_keep(tracker, &port, &port)) {
		char left[DURATION_TEXT_SIZE];
		struct keep keep;

		if (tracker_find_keep(tracker, port, &keep) < 0)
			continue;
		if (keep.until_boot_ns == 0)
			printf(":%u until reboot\n", port);
		else if (keep.until_boot_ns > now)
			printf(":%u for another %s\n", port, duration_format(keep.until_boot_ns - now, left));
	}
	return err == -ENOENT ? 0 : err;
}

int command_keep(const struct invocation *invocation)
{
	uint16_t port = invocation->operand ? parse_port(invocation->operand) : 0;
	struct failure failure = { 0 };
	struct tracker *tracker;
	int err;

	if (!invocation->is_list && port == 0) {
		command_say("keep: `%s` is not a port; say `listenreap keep :8080`",
			    invocation->operand ? invocation->operand : "");
		return EXIT_USAGE;
	}
	if (tracker_open(invocation->pin_dir, &tracker, &failure) < 0)
		return command_fail(&failure);
	if (invocation->is_list) {
		err = list(tracker);
	} else if (invocation->is_remove) {
		err = tracker_remove_keep(tracker, port);
	} else {
		struct keep keep = {
			.until_boot_ns = invocation->for_ns ? clock_boot_ns() + invocation->for_ns : 0, .uid = getuid(),
		};

		err = tracker_put_keep(tracker, port, &keep);
	}
	tracker_close(tracker);
	if (err < 0) {
		command_say("keep: :%u could not be %s: %s", port,
			    invocation->is_remove ? "removed" : "kept", err == -ENOENT ? "it is not kept" : strerror(-err));
		return err == -EPERM || err == -EACCES ? EXIT_BLIND : EXIT_FAILED;
	}
	return EXIT_DONE;
}
