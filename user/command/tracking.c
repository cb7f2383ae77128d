/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../observe/proc.h"
#include "command.h"

void command_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("listenreap: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

int command_fail(const struct failure *failure)
{
	command_say("%s", failure->text);
	switch (failure->err) {
	case -EPERM:
	case -EACCES:
	case -EOPNOTSUPP:
	case -ENOSYS:
		return EXIT_BLIND;
	default:
		return EXIT_FAILED;
	}
}

int command_fail_config(const struct failure *failure)
{
	command_say("%s", failure->text);
	return failure->err == -ENOMEM ? EXIT_FAILED : EXIT_USAGE;
}

int command_load(const struct invocation *invocation)
{
	struct failure failure = { 0 };
	bool was_loaded, was_repaired;

	if (tracker_load(invocation->pin_dir, &was_loaded, &was_repaired, &failure) < 0)
		return command_fail(&failure);
	if (was_repaired)
		command_say("the pins in %s were incomplete; they were removed and tracking starts anew", invocation->pin_dir);
	return EXIT_DONE;
}

int command_unload(const struct invocation *invocation)
{
	struct failure failure = { 0 };

	if (tracker_unload(invocation->pin_dir, &failure) < 0)
		return command_fail(&failure);
	return EXIT_DONE;
}

/*
 * Loading parses the kernel's type information, some 15 MB that a long-lived `run` would carry for ever: a child does it, and takes the memory with
 * it. Returns the exit code, having said why.
 */
static int load_in_child(const struct invocation *invocation)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(command_load(invocation));
	if (child < 0) {
		command_say("cannot start a process to load: %s", strerror(errno));
		return EXIT_FAILED;
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	command_say("loading was ended by signal %d", WTERMSIG(status));
	return EXIT_FAILED;
}

int session_open(const struct invocation *invocation, bool loads, struct session *ret)
{
	struct failure failure = { 0 };
	int err;

	*ret = (struct session){ .proc_fd = -1 };
	if (config_load(invocation->config_path, &ret->config, &failure) < 0)
		return command_fail_config(&failure);
	err = proc_open(&ret->proc_fd);
	if (err < 0) {
		command_say("cannot open /proc: %s; mount it", strerror(-err));
		return EXIT_BLIND;
	}
	err = tracker_open(invocation->pin_dir, &ret->tracker, &failure);
	if (loads && (err == -ENOENT || err == -ESTALE || err == -EBADMSG)) {
		int code = load_in_child(invocation);

		if (code != EXIT_DONE)
			return code;
		err = tracker_open(invocation->pin_dir, &ret->tracker, &failure);
	}
	return err < 0 ? command_fail(&failure) : EXIT_DONE;
}

void session_close(struct session *session)
{
	tracker_close(session->tracker);
	config_free(session->config);
	if (session->proc_fd >= 0)
		close(session->proc_fd);
	*session = (struct session){ .proc_fd = -1 };
}
