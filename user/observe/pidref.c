/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "pidref.h"
#include "proc.h"

int pidref_pin(int proc_fd, struct process_id id, struct pidref *ret)
{
	struct pidref ref = { .id = id };
	struct proc_stat stat;
	int err;

	if (id.tgid == 0 || id.tgid > INT32_MAX)
		return -EINVAL;
	ref.fd = (int)syscall(SYS_pidfd_open, (pid_t)id.tgid, 0);	/* close-on-exec by itself */
	if (ref.fd < 0)
		return -errno;
	/* From here on the pid cannot be taken by another without the pidfd becoming readable. */
	err = proc_read_stat(proc_fd, (pid_t)id.tgid, &stat);
	if (err == 0 && (stat.start_ticks != proc_ticks(id.start_boot_ns) || pidref_has_ended(&ref)))
		err = -ESRCH;
	if (err < 0) {
		pidref_close(&ref);
		return err;
	}
	*ret = ref;
	return 0;
}

int pidref_signal(const struct pidref *ref, int signal)
{
	return syscall(SYS_pidfd_send_signal, ref->fd, signal, NULL, 0) < 0 ? -errno : 0;
}

bool pidref_has_ended(const struct pidref *ref)
{
	struct pollfd wait = { .fd = ref->fd, .events = POLLIN };

	return poll(&wait, 1, 0) == 1 && wait.revents & POLLIN;
}

void pidref_close(struct pidref *ref)
{
	if (ref->fd >= 0)
		close(ref->fd);
	*ref = PIDREF_NULL;
}
