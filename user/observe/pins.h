/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/* Names and places of what is pinned: PIN_DIR/v<layout>/<name>. Private to tracker.c (reads) and loader.c (writes). */
#include <limits.h>
#include "tracker.h"

/* A layout directory under construction; renamed when it is whole. bpf filesystems refuse names with dots. */
#define PINS_LOADING "loading"
#define PINS_NAME_SIZE 32

enum pin {
	PIN_LISTENERS, PIN_BIRTHS, PIN_META, PIN_COUNTERS, PIN_SWITCHES, PIN_WAKEUPS, PIN_STOPS, PIN_TALLIES, PIN_KEEPS,
	PIN_RECORD_BIRTH, PIN_RECORD_EXEC, PIN_RECORD_END, PIN_RECORD_LISTEN,
	PIN_ITER_HOLDERS, PIN_ITER_PROCESSES, PIN_ITER_CONNECTIONS,
	PIN_CONFIRM_LISTEN,	/* only where the kernel allows trampolines */
	PIN_MAX
};
extern const char *const pin_names[PIN_MAX];

/* -EOPNOTSUPP outside of the initial pid and time namespaces: pids and start times would be others there. */
int pins_check_namespaces(struct failure *ret_failure);
/* "v1": the directory of this layout. */
void pins_layout_name(char name[static PINS_NAME_SIZE]);
/* Opens PIN_DIR/name as a directory; -ENOENT. */
int pins_open_dir(const char *pin_dir, const char *name, int *ret_fd);
