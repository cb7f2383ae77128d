/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * Addresses of listeners and connections, and the scope that follows from them. Pure. Addresses are in network
 * order as the kernel keeps them, IPv4 in the first four bytes; ports are in host order.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scope { SCOPE_LOOPBACK, SCOPE_EXPOSED, SCOPE_MAX };
extern const char *const scope_names[SCOPE_MAX];	/* "loopback", "exposed" */

struct address {
	uint16_t family;	/* AF_INET or AF_INET6 */
	uint8_t bytes[16];
};

/* 127/8, ::1, ::ffff:127/8 (RFC 1122 3.2.1.3, RFC 4291 2.5.3 and 2.5.5.2). */
bool addr_is_loopback(const struct address *address);
/* 0.0.0.0 or :: */
bool addr_is_any(const struct address *address);
/* ::ffff:a.b.c.d; IPv4 itself is not "mapped". */
bool addr_is_v4_mapped(const struct address *address);
/* Loopback address, or bound to the lo device (interface index 1 in every network namespace). */
enum scope addr_scope(const struct address *address, uint32_t bound_dev);
/* The same host address, a v4-mapped one being equal to its IPv4. */
bool addr_equal(const struct address *a, const struct address *b);
/* Would a socket bound to `bound` accept at `local`? Any-address, v6only and v4-mapped as the kernel does it. */
bool addr_accepts(const struct address *bound, bool is_v6only, const struct address *local);

#define ADDR_TEXT_SIZE 64
/* "127.0.0.1", "::1", "::ffff:127.0.0.1" (RFC 5952); always NUL-terminated, returns buffer. */
const char *addr_format(const struct address *address, char buffer[static ADDR_TEXT_SIZE]);
/* "127.0.0.1:80", "[::1]:80", "*:80" for 0.0.0.0 and "[::]:80". */
const char *addr_format_port(const struct address *address, uint16_t port, char buffer[static ADDR_TEXT_SIZE]);
