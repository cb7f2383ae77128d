/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preloaded, it makes bpf(2) refuse fentry, fexit, fmod_ret and LSM programs as some kernels do: EPERM, and nothing in the log.
 * libbpf calls the kernel through syscall(3).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <sys/syscall.h>

long syscall(long number, ...);
long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long words[6];
	va_list arguments;

	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(arguments, long);
	va_end(arguments);
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_bpf && words[0] == BPF_PROG_LOAD) {
		const union bpf_attr *attr = (const union bpf_attr *)words[1];

		if (attr->prog_type == BPF_PROG_TYPE_TRACING &&
		    (attr->expected_attach_type == BPF_TRACE_FENTRY || attr->expected_attach_type == BPF_TRACE_FEXIT ||
		     attr->expected_attach_type == BPF_MODIFY_RETURN)) {
			errno = EPERM;
			return -1;
		}
	}
	return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
