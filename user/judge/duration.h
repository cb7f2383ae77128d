/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/* Durations as the config and the command line write them. Pure. Nanoseconds inside. */
#include <stddef.h>
#include <stdint.h>

#define NS_PER_SEC UINT64_C(1000000000)

/* "90s", "5m", "2h", "1d", "0"; one number with one unit. -EINVAL: not one; -ERANGE: above 36500d. */
int duration_parse(const char *text, uint64_t *ret_ns);

#define DURATION_TEXT_SIZE 32
/* For people, two units at most: "42s", "5m", "1h 20m", "3d 4h"; below a second "0s". Returns buffer. */
const char *duration_format(uint64_t ns, char buffer[static DURATION_TEXT_SIZE]);
