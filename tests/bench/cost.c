/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tracking costs others: prints ns per cycle of one loop. `cost listen|fork|exec|accept COUNT`; `cost hold PROCESSES LISTENERS FILES`
 * opens them, prints "ready" and waits for the end of standard input; `cost time COMMAND...` prints wall ns, peak KiB and exit code.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static int open_listener(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 16) < 0)
		die("listen");
	return fd;
}

static void cycle_listen(void)
{
	close(open_listener());
}

static void cycle_fork(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		die("vfork");
}

static void cycle_exec(void)
{
	char *argv[] = { (char *)"true", NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) != 0 || waitpid(pid, NULL, 0) != pid)
		die("posix_spawn");
}

static int served = -1;
static struct sockaddr_in served_at;

static void cycle_accept(void)
{
	socklen_t size = sizeof(served_at);
	struct linger abort_it = { .l_onoff = 1 };	/* no TIME_WAIT left behind */
	int client, server;

	if (served < 0) {
		served = open_listener();
		getsockname(served, (struct sockaddr *)&served_at, &size);
	}
	client = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(client, (struct sockaddr *)&served_at, sizeof(served_at)) < 0)
		die("connect");
	server = accept(served, NULL, NULL);
	setsockopt(client, SOL_SOCKET, SO_LINGER, &abort_it, sizeof(abort_it));
	close(client);
	close(server);
}

static void hold(int processes, int listeners, int files)
{
	struct rlimit limit;
	int ready[2];
	char byte = 0;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || pipe(ready) < 0)
		die("hold");
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		die("setrlimit");
	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid > 0)
			continue;
		for (int j = 0; j < listeners; j++)
			open_listener();
		for (int j = 0; j < files; j++)
			if (open("/dev/null", O_RDONLY) < 0)
				die("open");
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		while (read(STDIN_FILENO, &byte, 1) > 0)
			;
		_exit(0);
	}
	for (int i = 0; i < processes; i++)
		if (read(ready[0], &byte, 1) != 1)
			die("ready");
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	while (wait(NULL) > 0)
		;
}

/* Wall ns and peak KiB of a command. From here and not from the benchmark's Python: exec carries the peak of whoever forked. */
static void measure(char **command)
{
	uint64_t start = now_ns();
	struct rusage usage;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
			_exit(126);
		execvp(command[0], command);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		die(command[0]);
	printf("%llu %ld %d\n", (unsigned long long)(now_ns() - start), usage.ru_maxrss, WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*cycle)(void);
	} loops[] = { { "listen", cycle_listen }, { "fork", cycle_fork }, { "exec", cycle_exec }, { "accept", cycle_accept } };

	if (argc > 2 && strcmp(argv[1], "time") == 0) {
		measure(argv + 2);
		return 0;
	}
	if (argc == 5 && strcmp(argv[1], "hold") == 0) {
		hold(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
		return 0;
	}
	for (size_t i = 0; argc == 3 && i < sizeof(loops) / sizeof(loops[0]); i++) {
		long count = atol(argv[2]);
		uint64_t start;

		if (strcmp(argv[1], loops[i].name) != 0 || count <= 0)
			continue;
		loops[i].cycle();
		start = now_ns();
		for (long j = 0; j < count; j++)
			loops[i].cycle();
		printf("%.1f\n", (double)(now_ns() - start) / (double)count);
		return 0;
	}
	fprintf(stderr, "usage: cost listen|fork|exec|accept COUNT, cost hold PROCESSES LISTENERS FILES, cost time COMMAND...\n");
	return 2;
}
