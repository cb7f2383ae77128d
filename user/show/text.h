/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/* Hostile text made safe to print, and how things are said. Strings that come from a process pass through here or through json. */
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include "../judge/policy.h"

/* Control characters (C0, DEL, C1), backslash-escaped as \n \t \e \xNN; invalid UTF-8 bytes as \xNN; bidi and other format controls as
   \u{NNNN}. At most columns display columns (wcwidth), an ellipsis when cut. Always NUL-terminated. Returns bytes written. */
size_t text_escape(const char *bytes, size_t length, size_t columns, char *buffer, size_t size);
/* Display columns of text already escaped. */
size_t text_columns(const char *text);

/* One sentence for people that says why: the contract's `detail`. Names the rule, the anchor (program and pid), ages, the due time. */
void text_detail(const struct world *world, const struct ruleset *ruleset, const struct verdict *verdict, int listener, uint64_t now_boot_ns,
		 char *buffer, size_t size);
/* User name of a uid, cached; the number when there is none. */
const char *text_user(uint32_t uid);
/* "name(pid)" of a process, escaped: script or package for interpreters, else comm. */
void text_process(const struct process *process, char *buffer, size_t size);
