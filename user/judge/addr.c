/* SPDX-License-Identifier: GPL-2.0-only */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include "addr.h"

#define LOOPBACK_DEV 1	/* lo is the first device of every network namespace (net/core/dev.c, LOOPBACK_IFINDEX) */

const char *const scope_names[SCOPE_MAX] = { [SCOPE_LOOPBACK] = "loopback", [SCOPE_EXPOSED] = "exposed" };

static const uint8_t mapped_prefix[12] = { [10] = 0xff, [11] = 0xff };
static const uint8_t any[16];
static const uint8_t v6_loopback[16] = { [15] = 1 };

bool addr_is_v4_mapped(const struct address *address)
{
	return address->family == AF_INET6 && memcmp(address->bytes, mapped_prefix, sizeof(mapped_prefix)) == 0;
}

/* The four bytes of an IPv4 or v4-mapped address; NULL for another IPv6 one. */
static const uint8_t *v4_of(const struct address *address)
{
	if (address->family == AF_INET)
		return address->bytes;
	return addr_is_v4_mapped(address) ? address->bytes + sizeof(mapped_prefix) : NULL;
}

bool addr_is_loopback(const struct address *address)
{
	const uint8_t *v4 = v4_of(address);

	return v4 ? v4[0] == 127 : memcmp(address->bytes, v6_loopback, sizeof(v6_loopback)) == 0;
}

bool addr_is_any(const struct address *address)
{
	return memcmp(address->bytes, any, address->family == AF_INET ? 4 : sizeof(any)) == 0;
}

enum scope addr_scope(const struct address *address, uint32_t bound_dev)
{
	return bound_dev == LOOPBACK_DEV || addr_is_loopback(address) ? SCOPE_LOOPBACK : SCOPE_EXPOSED;
}

bool addr_equal(const struct address *a, const struct address *b)
{
	const uint8_t *first = v4_of(a), *second = v4_of(b);

	if (!first != !second)
		return false;
	return first ? memcmp(first, second, 4) == 0 : memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool addr_accepts(const struct address *bound, bool is_v6only, const struct address *local)
{
	const uint8_t *v4 = v4_of(bound);

	if (!addr_is_any(bound) && !(v4 && memcmp(v4, any, 4) == 0))
		return addr_equal(bound, local);
	if (v4)
		return v4_of(local) != NULL;	/* 0.0.0.0 and ::ffff:0.0.0.0: every IPv4 address */
	return !is_v6only || !v4_of(local);
}

const char *addr_format(const struct address *address, char buffer[static ADDR_TEXT_SIZE])
{
	if (!inet_ntop(address->family, address->bytes, buffer, ADDR_TEXT_SIZE))
		strcpy(buffer, "?");
	return buffer;
}

const char *addr_format_port(const struct address *address, uint16_t port, char buffer[static ADDR_TEXT_SIZE])
{
	char host[ADDR_TEXT_SIZE];

	addr_format(address, host);
	if (address->family == AF_INET6)
		snprintf(buffer, ADDR_TEXT_SIZE, "[%.46s]:%u", host, port);
	else
		snprintf(buffer, ADDR_TEXT_SIZE, "%.46s:%u", addr_is_any(address) ? "*" : host, port);
	return buffer;
}
