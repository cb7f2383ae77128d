/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/* Hostile text made safe to print, and how things are said. Strings that come from a process pass through here or through json. */
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include "../judge/policy.h"

/*
 * The next code point of bytes[0 .. length), length > 0: how many bytes it has. Or, where they are not UTF-8, minus the number of bytes that one
 * replacement character stands for (Unicode 15, 3.9: maximal subparts, as browsers and Python do it).
 */
int text_decode(const char *bytes, size_t length, uint32_t *ret_point);

/* Control characters (C0, DEL, C1), backslash-escaped as \n \t \e \xNN; invalid UTF-8 bytes as \xNN; bidi and other format controls as
   \u{NNNN}; a backslash doubled. At most columns display columns (wcwidth), an ellipsis when cut. Always NUL-terminated. Returns bytes written. */
size_t text_escape(const char *bytes, size_t length, size_t columns, char *buffer, size_t size);
/* Display columns of text already escaped. */
size_t text_columns(const char *text);

#define DETAIL_SIZE 512
/* One sentence for people that says why: the contract's `detail`. Names the rule, the anchor (program and pid), ages, the due time. */
void text_detail(const struct world *world, const struct ruleset *ruleset, const struct verdict *verdict, int listener, uint64_t now_boot_ns,
		 char *buffer, size_t size);
/* User name of a uid, cached; the number when there is none. */
const char *text_user(uint32_t uid);
/* "name(pid)" of a process, escaped: script or package for interpreters, else comm. */
void text_process(const struct process *process, char *buffer, size_t size);
/* What it runs, in few words: "node server.mjs", "python3 -m http.server", "nginx". */
void text_command(const struct process *process, char *buffer, size_t size);
/* From then to now; 0 when then lies ahead. */
uint64_t text_since(uint64_t now_boot_ns, uint64_t then_boot_ns);
/* The path in the unified hierarchy (cgroups(7), "0::PATH"), else in the first one; none when lines is NULL. */
struct span text_cgroup(const char *lines);
