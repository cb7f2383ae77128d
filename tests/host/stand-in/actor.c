/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * actor: a process that does what it is told, one step at a time, under any name: copy or hard-link it as `lr-agent`, `lr-server`, ...
 * It says hello on the driver's socket (LR_CONTROL, a SOCK_SEQPACKET path) with its name in the play (LR_ID) and then obeys. A request
 * is one packet of words, each ended by NUL; the reply is one packet: "ok WORD..." or "error ERRNO TEXT". Descriptors travel
 * along in both directions. argv is never read: it may be anything. When the driver has gone, so has the actor.
 *
 * Children that it forks are actors too and say hello themselves. It never reaps a child unless told to (`wait`).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_WORDS 512
#define MAX_TEXT (256 * 1024)

extern char **environ;

struct request {
	char text[MAX_TEXT];
	char *words[MAX_WORDS + 1];
	int count;
	int fd;			/* came along; -1 none */
};

struct reply {
	char text[4096];
	int fd;			/* to send along, and to close then; -1 none */
	bool is_silent;		/* a child that has its own connection now: nothing to answer */
};

static struct {
	int control;
	int signals;		/* signalfd, -1: signals do what they do */
	char seen[4096];	/* names of signals that came while watched */
	enum { TERM_DIES, TERM_FORKS, TERM_FORKS_AND_ENDS, TERM_ENDS } on_term;
	char term_id[64];
	int term_code;
	char *argv0;
	size_t argv_size;
} actor = { .control = -1, .signals = -1 };

static int answer(struct reply *reply, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int answer(struct reply *reply, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reply->text, sizeof(reply->text), format, arguments);
	va_end(arguments);
	return 0;
}

static long number(const char *text)
{
	return strtol(text, NULL, 0);
}

/* The driver's connection */

static int connect_as(const char *id)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("LR_CONTROL");

	if (!path || strlen(path) >= sizeof(address.sun_path))
		return -EINVAL;
	strcpy(address.sun_path, path);
	actor.control = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (actor.control < 0 || connect(actor.control, (struct sockaddr *)&address, sizeof(address)) != 0)
		return -errno;
	return send(actor.control, id, strlen(id), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static ssize_t receive_request(struct request *request)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} extra = { 0 };
	struct iovec text = { .iov_base = request->text, .iov_len = sizeof(request->text) - 1 };
	struct msghdr message = {
		.msg_iov = &text, .msg_iovlen = 1, .msg_control = extra.bytes, .msg_controllen = sizeof(extra.bytes),
	};
	ssize_t length = recvmsg(actor.control, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	request->fd = -1;
	request->count = 0;
	if (length <= 0)
		return length;
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(&request->fd, CMSG_DATA(header), sizeof(int));
	request->text[length] = 0;
	for (char *word = request->text; word < request->text + length && request->count < MAX_WORDS; word += strlen(word) + 1)
		request->words[request->count++] = word;
	request->words[request->count] = NULL;
	return length;
}

static void send_reply(struct reply *reply)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} extra = { 0 };
	struct iovec text = { .iov_base = reply->text, .iov_len = strlen(reply->text) };
	struct msghdr message = { .msg_iov = &text, .msg_iovlen = 1 };

	if (reply->fd >= 0) {
		message.msg_control = extra.bytes;
		message.msg_controllen = sizeof(extra.bytes);
		*CMSG_FIRSTHDR(&message) =
			(struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &reply->fd, sizeof(int));
	}
	sendmsg(actor.control, &message, MSG_NOSIGNAL);
	if (reply->fd >= 0)
		close(reply->fd);
}

/* Processes */

/* In a fork: an actor of its own from here on. Signals are watched no more, but what is blocked stays blocked. */
static void become(const char *id)
{
	close(actor.control);
	if (actor.signals >= 0) {
		close(actor.signals);
		actor.signals = -1;
	}
	actor.on_term = TERM_DIES;
	if (connect_as(id) != 0)
		_exit(70);
}

static int do_fork(char **words, int count, struct request *request, struct reply *reply)
{
	pid_t pid = fork();

	(void)count, (void)request;
	if (pid == 0) {
		become(words[0]);
		reply->is_silent = true;
		return 0;
	}
	return pid < 0 ? -errno : answer(reply, "ok %d", pid);
}

/* The middle ends at once and is waited for. */
static int do_double_fork(char **words, int count, struct request *request, struct reply *reply)
{
	int ends[2], status;
	pid_t middle, pid = 0;

	(void)count, (void)request;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	middle = fork();
	if (middle < 0)
		return -errno;
	if (middle == 0) {
		pid = fork();
		if (pid == 0) {
			close(ends[0]);
			close(ends[1]);
			become(words[0]);
			reply->is_silent = true;
			return 0;
		}
		_exit(write(ends[1], &pid, sizeof(pid)) == sizeof(pid) ? 0 : 1);
	}
	close(ends[1]);
	if (read(ends[0], &pid, sizeof(pid)) != sizeof(pid))
		pid = -1;
	close(ends[0]);
	waitpid(middle, &status, 0);
	return pid < 0 ? -EIO : answer(reply, "ok %d %d", pid, middle);
}

static void obey(struct request *request);

static void *fork_in_thread(void *id)
{
	pid_t pid = fork();

	if (pid == 0) {
		static struct request request;

		become(id);
		obey(&request);
	}
	return (void *)(long)pid;
}

static int do_fork_from_thread(char **words, int count, struct request *request, struct reply *reply)
{
	pthread_t thread;
	void *pid;

	(void)count, (void)request;
	if (pthread_create(&thread, NULL, fork_in_thread, words[0]) != 0 || pthread_join(thread, &pid) != 0)
		return -EAGAIN;
	return (long)pid < 0 ? -EAGAIN : answer(reply, "ok %ld", (long)pid);
}

/* OUT [NAME=VALUE...] PROGRAM ARGV0 [ARG...]: never returns but for failure. OUT "" is /dev/null, "-" what we have. */
static int run(char **words)
{
	const char *out = *words++;
	sigset_t none;
	int fd;

	if (strcmp(out, "-") != 0) {
		fd = open(*out ? out : "/dev/null", O_RDWR | O_CREAT, 0600);
		if (fd < 0)
			return -errno;
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		if (fd > STDERR_FILENO)
			close(fd);
	}
	for (; *words && strchr(*words, '='); words++)
		putenv(*words);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	if (!words[0] || !words[1])
		return -EINVAL;
	execvp(words[0], words + 1);
	return -errno;
}

static int do_spawn(char **words, int count, struct request *request, struct reply *reply)
{
	int ends[2], err = 0;
	pid_t pid;

	(void)count, (void)request;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		err = run(words);
		_exit(write(ends[1], &err, sizeof(err)) == sizeof(err) ? 127 : 126);
	}
	close(ends[1]);
	if (pid > 0 && read(ends[0], &err, sizeof(err)) != sizeof(err))
		err = 0;
	close(ends[0]);
	return pid < 0 ? -EAGAIN : err < 0 ? err : answer(reply, "ok %d", pid);
}

static int do_exec(char **words, int count, struct request *request, struct reply *reply)
{
	(void)count, (void)request, (void)reply;
	return run(words);
}

static void *run_in_thread(void *words)
{
	return (void *)(long)run(words);
}

static int do_exec_from_thread(char **words, int count, struct request *request, struct reply *reply)
{
	pthread_t thread;
	void *err;

	(void)count, (void)request, (void)reply;
	if (pthread_create(&thread, NULL, run_in_thread, words) != 0 || pthread_join(thread, &err) != 0)
		return -EAGAIN;
	return (int)(long)err;
}

/* OUT [NAME=VALUE...] PROGRAM ARGV0 [ARG...], as for run, on a terminal of its own; the master goes to the driver: closing it is hanging up. */
static int do_pty(char **words, int count, struct request *request, struct reply *reply)
{
	struct winsize window = { .ws_row = 25, .ws_col = 200 };
	int ends[2], master, err = 0;
	pid_t pid;

	(void)count, (void)request;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	pid = forkpty(&master, NULL, NULL, &window);
	if (pid == 0) {
		err = run(words);
		_exit(write(ends[1], &err, sizeof(err)) == sizeof(err) ? 127 : 126);
	}
	close(ends[1]);
	if (pid > 0 && read(ends[0], &err, sizeof(err)) != sizeof(err))
		err = 0;
	close(ends[0]);
	if (pid < 0 || err < 0)
		return pid < 0 ? -EAGAIN : err;
	reply->fd = master;
	return answer(reply, "ok %d", pid);
}

static pthread_t leader;

static void *outlive_leader(void *arg)
{
	static struct request request;
	struct reply reply = { .fd = -1 };

	(void)arg;
	pthread_join(leader, NULL);
	answer(&reply, "ok");
	send_reply(&reply);
	obey(&request);
	_exit(0);
}

static int do_leader_exit(char **words, int count, struct request *request, struct reply *reply)
{
	pthread_t thread;

	(void)words, (void)count, (void)request, (void)reply;
	leader = pthread_self();
	if (pthread_create(&thread, NULL, outlive_leader, NULL) != 0)
		return -EAGAIN;
	pthread_detach(thread);
	pthread_exit(NULL);
}

static int do_exit(char **words, int count, struct request *request, struct reply *reply)
{
	(void)request, (void)reply;
	_exit(count > 0 ? (int)number(words[0]) : 0);
}

static int do_die(char **words, int count, struct request *request, struct reply *reply)
{
	sigset_t none;

	(void)count, (void)request, (void)reply;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	raise((int)number(words[0]));
	return -EINTR;
}

/* Answers first: it cannot afterwards. */
static int do_stop(char **words, int count, struct request *request, struct reply *reply)
{
	(void)words, (void)count, (void)request;
	answer(reply, "ok");
	send_reply(reply);
	raise(SIGSTOP);
	reply->is_silent = true;
	return 0;
}

/* Until that child has ended, or stopped. */
static int do_wait(char **words, int count, struct request *request, struct reply *reply)
{
	int status;

	(void)count, (void)request;
	return waitpid((pid_t)number(words[0]), &status, WUNTRACED) < 0 ? -errno : answer(reply, "ok %d", status);
}

static int do_setsid(char **words, int count, struct request *request, struct reply *reply)
{
	(void)words, (void)count, (void)request;
	return setsid() < 0 ? -errno : answer(reply, "ok");
}

static int do_subreaper(char **words, int count, struct request *request, struct reply *reply)
{
	(void)words, (void)count, (void)request;
	return prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ? -errno : answer(reply, "ok");
}

/* UID [EUID]: real and saved, effective. */
static int do_setuid(char **words, int count, struct request *request, struct reply *reply)
{
	uid_t real = (uid_t)number(words[0]), effective = count > 1 ? (uid_t)number(words[1]) : real;

	(void)request;
	if (setgroups(0, NULL) != 0 || setresgid(real, real, real) != 0 || setresuid(real, effective, real) != 0)
		return -errno;
	prctl(PR_SET_DUMPABLE, 1);
	return answer(reply, "ok");
}

static int do_setenv(char **words, int count, struct request *request, struct reply *reply)
{
	int err = count > 1 ? setenv(words[0], words[1], 1) : unsetenv(words[0]);

	(void)request;
	return err ? -errno : answer(reply, "ok");
}

static int do_chdir(char **words, int count, struct request *request, struct reply *reply)
{
	(void)count, (void)request;
	return chdir(words[0]) ? -errno : answer(reply, "ok");
}

/* comm alone. */
static int do_name(char **words, int count, struct request *request, struct reply *reply)
{
	(void)count, (void)request;
	return prctl(PR_SET_NAME, words[0]) < 0 ? -errno : answer(reply, "ok");
}

/* What /proc/PID/cmdline shows, as programs do that set a title: over the old argv, cut to its length. */
static int do_title(char **words, int count, struct request *request, struct reply *reply)
{
	(void)count, (void)request;
	memset(actor.argv0, 0, actor.argv_size);
	strncpy(actor.argv0, words[0], actor.argv_size - 1);
	prctl(PR_SET_NAME, words[0]);
	return answer(reply, "ok");
}

/* A network namespace of its own, with its loopback up. */
static int do_unshare_net(char **words, int count, struct request *request, struct reply *reply)
{
	struct ifreq loopback = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	struct stat status;
	int fd, err;

	(void)words, (void)count, (void)request;
	if (unshare(CLONE_NEWNET) != 0)
		return -errno;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	err = ioctl(fd, SIOCSIFFLAGS, &loopback) != 0 ? -errno : 0;
	close(fd);
	if (err || stat("/proc/self/ns/net", &status) != 0)
		return err ? err : -errno;
	return answer(reply, "ok %lu", (unsigned long)status.st_ino);
}

/* The next child is pid 1 of a pid namespace of its own. */
static int do_unshare_pid(char **words, int count, struct request *request, struct reply *reply)
{
	(void)words, (void)count, (void)request;
	return unshare(CLONE_NEWPID) ? -errno : answer(reply, "ok");
}

/* Signals */

static int do_ignore(char **words, int count, struct request *request, struct reply *reply)
{
	(void)count, (void)request;
	return signal((int)number(words[0]), SIG_IGN) == SIG_ERR ? -errno : answer(reply, "ok");
}

static int do_default(char **words, int count, struct request *request, struct reply *reply)
{
	(void)count, (void)request;
	return signal((int)number(words[0]), SIG_DFL) == SIG_ERR ? -errno : answer(reply, "ok");
}

static int watch(const sigset_t *set)
{
	sigprocmask(SIG_BLOCK, set, NULL);
	actor.signals = signalfd(actor.signals, set, SFD_CLOEXEC | SFD_NONBLOCK);
	return actor.signals < 0 ? -errno : 0;
}

/* From now on no signal but KILL and STOP does anything; `signals` tells which came. */
static int do_watch_signals(char **words, int count, struct request *request, struct reply *reply)
{
	sigset_t all;
	int err;

	(void)words, (void)count, (void)request;
	sigfillset(&all);
	err = watch(&all);
	return err ? err : answer(reply, "ok");
}

static void take_signals(void);

static int do_signals(char **words, int count, struct request *request, struct reply *reply)
{
	(void)words, (void)count, (void)request;
	take_signals();
	return answer(reply, "ok%.4000s", actor.seen);
}

/* fork ID | fork-and-exit ID | exit CODE: what TERM makes it do. */
static int do_on_term(char **words, int count, struct request *request, struct reply *reply)
{
	sigset_t term;
	int err;

	(void)count, (void)request;
	if (strcmp(words[0], "exit") == 0)
		actor.on_term = TERM_ENDS;
	else
		actor.on_term = strcmp(words[0], "fork") == 0 ? TERM_FORKS : TERM_FORKS_AND_ENDS;
	actor.term_code = (int)number(words[1]);
	snprintf(actor.term_id, sizeof(actor.term_id), "%s", words[1]);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	err = watch(&term);
	return err ? err : answer(reply, "ok");
}

static void act_on_term(void)
{
	pid_t pid;

	if (actor.on_term == TERM_DIES)
		return;
	if (actor.on_term == TERM_ENDS)
		_exit(actor.term_code);
	pid = fork();
	if (pid == 0)
		become(actor.term_id);
	else if (actor.on_term == TERM_FORKS_AND_ENDS)
		_exit(0);
	else
		actor.on_term = TERM_DIES;
}

static void take_signals(void)
{
	struct signalfd_siginfo info;

	while (actor.signals >= 0 && read(actor.signals, &info, sizeof(info)) == sizeof(info)) {
		const char *name = sigabbrev_np((int)info.ssi_signo);
		size_t used = strlen(actor.seen);

		if (info.ssi_signo != SIGCHLD)
			snprintf(actor.seen + used, sizeof(actor.seen) - used, " %s", name ? name : "?");
		if (info.ssi_signo == SIGTERM)
			act_on_term();
	}
}

/* Sockets. They are closed on exec unless `inherit` says otherwise. */

struct where {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t length;
};

static int where_is(const char *address, long port, struct where *ret)
{
	*ret = (struct where){ 0 };
	if (strchr(address, ':')) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons((uint16_t)port);
		ret->length = sizeof(ret->v6);
		return inet_pton(AF_INET6, address, &ret->v6.sin6_addr) == 1 ? 0 : -EINVAL;
	}
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = htons((uint16_t)port);
	ret->length = sizeof(ret->v4);
	return inet_pton(AF_INET, address, &ret->v4.sin_addr) == 1 ? 0 : -EINVAL;
}

static int own_port(int fd)
{
	struct where where = { .length = sizeof(where.v6) };

	getsockname(fd, &where.any, &where.length);
	return ntohs(where.any.sa_family == AF_INET6 ? where.v6.sin6_port : where.v4.sin_port);
}

static unsigned long inode_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) ? 0 : (unsigned long)status.st_ino;
}

/* 4|6 [mptcp] [reuseport] [reuseaddr] [v6only] [dual] */
static int do_socket(char **words, int count, struct request *request, struct reply *reply)
{
	bool is_mptcp = false;
	int on = 1, off = 0, fd, err = 0;

	(void)request;
	for (int i = 1; i < count; i++)
		is_mptcp |= strcmp(words[i], "mptcp") == 0;
	fd = socket(words[0][0] == '6' ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, is_mptcp ? 262 : 0);
	if (fd < 0)
		return -errno;
	for (int i = 1; i < count; i++) {
		if (strcmp(words[i], "reuseport") == 0)
			err |= setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
		else if (strcmp(words[i], "reuseaddr") == 0)
			err |= setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		else if (strcmp(words[i], "v6only") == 0)
			err |= setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
		else if (strcmp(words[i], "dual") == 0)
			err |= setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	}
	return err ? -errno : answer(reply, "ok %d %lu", fd, inode_of(fd));
}

/* FD ADDRESS PORT [DEVICE] */
static int do_bind(char **words, int count, struct request *request, struct reply *reply)
{
	int fd = (int)number(words[0]);
	struct where where;
	int err = where_is(words[1], number(words[2]), &where);

	(void)request;
	if (!err && count > 3 && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, words[3], (socklen_t)strlen(words[3])))
		err = -errno;
	if (!err && bind(fd, &where.any, where.length))
		err = -errno;
	return err ? err : answer(reply, "ok %d", own_port(fd));
}

/* FD BACKLOG */
static int do_listen(char **words, int count, struct request *request, struct reply *reply)
{
	int fd = (int)number(words[0]);

	(void)count, (void)request;
	return listen(fd, (int)number(words[1])) ? -errno : answer(reply, "ok %d %lu", own_port(fd), inode_of(fd));
}

static int do_accept(char **words, int count, struct request *request, struct reply *reply)
{
	int fd = accept4((int)number(words[0]), NULL, NULL, SOCK_CLOEXEC);

	(void)count, (void)request;
	return fd < 0 ? -errno : answer(reply, "ok %d", fd);
}

/* ADDRESS PORT */
static int do_connect(char **words, int count, struct request *request, struct reply *reply)
{
	struct where where;
	int fd, err = where_is(words[0], number(words[1]), &where);

	(void)count, (void)request;
	if (err)
		return err;
	fd = socket(where.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, &where.any, where.length)) {
		err = -errno;
		close(fd);
		return err;
	}
	return answer(reply, "ok %d %d", fd, own_port(fd));
}

/* Until the other end has closed: then it is us who close last and the other who waits in TIME_WAIT. */
static int do_drain(char **words, int count, struct request *request, struct reply *reply)
{
	char bytes[4096];
	ssize_t length;

	(void)count, (void)request;
	do
		length = read((int)number(words[0]), bytes, sizeof(bytes));
	while (length > 0);
	return length < 0 ? -errno : answer(reply, "ok");
}

static int do_shutdown(char **words, int count, struct request *request, struct reply *reply)
{
	(void)count, (void)request;
	return shutdown((int)number(words[0]), SHUT_RDWR) ? -errno : answer(reply, "ok");
}

static int do_close(char **words, int count, struct request *request, struct reply *reply)
{
	(void)count, (void)request;
	return close((int)number(words[0])) ? -errno : answer(reply, "ok");
}

static int do_dup(char **words, int count, struct request *request, struct reply *reply)
{
	int fd = fcntl((int)number(words[0]), F_DUPFD_CLOEXEC, 3);

	(void)count, (void)request;
	return fd < 0 ? -errno : answer(reply, "ok %d", fd);
}

static int do_inherit(char **words, int count, struct request *request, struct reply *reply)
{
	(void)count, (void)request;
	return fcntl((int)number(words[0]), F_SETFD, 0) ? -errno : answer(reply, "ok");
}

/* A copy of the descriptor goes to the driver. */
static int do_give(char **words, int count, struct request *request, struct reply *reply)
{
	(void)count, (void)request;
	reply->fd = dup((int)number(words[0]));
	return reply->fd < 0 ? -errno : answer(reply, "ok");
}

/* What came along is ours. */
static int do_take(char **words, int count, struct request *request, struct reply *reply)
{
	int fd = request->fd;

	(void)words, (void)count;
	request->fd = -1;
	return fd < 0 ? -EBADF : answer(reply, "ok %d", fd);
}

static int do_who(char **words, int count, struct request *request, struct reply *reply)
{
	(void)words, (void)count, (void)request;
	return answer(reply, "ok %d %d %d", getpid(), getppid(), getsid(0));
}

static const struct command {
	const char *name;
	int min_words;
	int (*act)(char **words, int count, struct request *request, struct reply *reply);
} commands[] = {
	{ "accept", 1, do_accept },
	{ "bind", 3, do_bind },
	{ "chdir", 1, do_chdir },
	{ "close", 1, do_close },
	{ "connect", 2, do_connect },
	{ "default", 1, do_default },
	{ "die", 1, do_die },
	{ "double-fork", 1, do_double_fork },
	{ "drain", 1, do_drain },
	{ "dup", 1, do_dup },
	{ "exec", 3, do_exec },
	{ "exec-from-thread", 3, do_exec_from_thread },
	{ "exit", 0, do_exit },
	{ "fork", 1, do_fork },
	{ "fork-from-thread", 1, do_fork_from_thread },
	{ "give", 1, do_give },
	{ "ignore", 1, do_ignore },
	{ "inherit", 1, do_inherit },
	{ "leader-exit", 0, do_leader_exit },
	{ "listen", 2, do_listen },
	{ "name", 1, do_name },
	{ "on-term", 2, do_on_term },
	{ "pty", 3, do_pty },
	{ "setenv", 1, do_setenv },
	{ "setsid", 0, do_setsid },
	{ "setuid", 1, do_setuid },
	{ "shutdown", 1, do_shutdown },
	{ "signals", 0, do_signals },
	{ "socket", 1, do_socket },
	{ "spawn", 3, do_spawn },
	{ "stop", 0, do_stop },
	{ "subreaper", 0, do_subreaper },
	{ "take", 0, do_take },
	{ "title", 1, do_title },
	{ "unshare-net", 0, do_unshare_net },
	{ "unshare-pid", 0, do_unshare_pid },
	{ "wait", 1, do_wait },
	{ "watch-signals", 0, do_watch_signals },
	{ "who", 0, do_who },
};

static int act(struct request *request, struct reply *reply)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(request->words[0], commands[i].name) != 0)
			continue;
		if (request->count - 1 < commands[i].min_words)
			return -EINVAL;
		return commands[i].act(request->words + 1, request->count - 1, request, reply);
	}
	return -ENOSYS;
}

/* Until the driver has gone. */
static void obey(struct request *request)
{
	for (;;) {
		struct pollfd waits[] = { { .fd = actor.control, .events = POLLIN }, { .fd = actor.signals, .events = POLLIN } };
		struct reply reply = { .fd = -1 };
		int err;

		if (poll(waits, 2, -1) < 0 && errno != EINTR)
			_exit(71);
		if (waits[1].revents)
			take_signals();
		if (!waits[0].revents)
			continue;
		if (receive_request(request) <= 0)
			_exit(0);
		err = request->count > 0 ? act(request, &reply) : -EINVAL;
		if (request->fd >= 0)
			close(request->fd);
		if (err < 0)
			answer(&reply, "error %d %s", -err, strerror(-err));
		if (!reply.is_silent)
			send_reply(&reply);
	}
}

int main(int argc, char **argv)
{
	static struct request request;
	const char *id = getenv("LR_ID");

	actor.argv0 = argv[0];
	actor.argv_size = argc > 0 ? (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) + 1 - argv[0]) : 0;
	if (!id || connect_as(id) != 0) {
		fprintf(stderr, "actor: LR_ID and LR_CONTROL must say who it is and who drives it: %s\n", strerror(errno));
		return 69;
	}
	obey(&request);
	return 0;
}
