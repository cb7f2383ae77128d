/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * The config file (contract.md): read with inih, checked whole, resolved to a struct ruleset that owns all it points
 * to. The shipped file (user/etc/listenreap.conf) is built into the program and is what is used when there is no
 * file; its name lists and protections stand under every other file unless a section says `shipped = no`.
 *
 * Refused (0 or negative errno; ret_failure->text is "FILE:LINE: message", LINE 0 when the whole file is meant): unknown section
 * or key, bad value, a rule without program/script/argv/born-of/env, not a regular file, owned by another than root or us, writable by
 * group (unless root's) or others. The file is opened once and checked by fstat on that descriptor.
 */
#include <stdbool.h>
#include <stdio.h>
#include "../judge/rules.h"
#include "failure.h"

#define CONFIG_DEFAULT "/etc/listenreap.conf"

struct config;

/* path NULL: CONFIG_DEFAULT, and the built-in file when that does not exist. A named file must exist. */
int config_load(const char *path, struct config **ret, struct failure *ret_failure);
/* From memory, for tests and fuzzing; name stands for FILE in messages. */
int config_parse(const char *name, const char *text, size_t length, struct config **ret, struct failure *ret_failure);
void config_free(struct config *config);
const struct ruleset *config_ruleset(const struct config *config);
/* Path it came from; "built-in" when none. */
const char *config_origin(const struct config *config);
/* The effective rules, as a config file that gives the same again (`check` prints it). */
void config_print(const struct config *config, FILE *out);
