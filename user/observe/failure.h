/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * One failure, told once: what was tried, on what, why, what to do. Modules below main fill it and return a
 * negative errno; only main and the run loop print it.
 */
#include <stdarg.h>

struct failure {
	int err;	/* negative errno, 0 none */
	char text[512];	/* one line, no newline, no control characters */
};

/* Fills *failure and returns err. errno text is the caller's to put in. */
int failure_set(struct failure *failure, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
