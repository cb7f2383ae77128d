/* SPDX-License-Identifier: GPL-2.0-only */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include "../../user/judge/addr.h"

static struct address parse(const char *text)
{
	struct address address = { .family = strchr(text, ':') ? AF_INET6 : AF_INET };

	cr_assert_eq(inet_pton(address.family, text, address.bytes), 1, "%s", text);
	return address;
}

Test(addr, scope)
{
	static const struct {
		const char *address;
		uint32_t device;
		enum scope scope;
	} rows[] = {
		{ "127.0.0.1", 0, SCOPE_LOOPBACK }, { "127.0.0.2", 0, SCOPE_LOOPBACK }, { "127.255.255.254", 0, SCOPE_LOOPBACK },
		{ "::1", 0, SCOPE_LOOPBACK }, { "::ffff:127.0.0.1", 0, SCOPE_LOOPBACK }, { "::ffff:127.9.9.9", 0, SCOPE_LOOPBACK },
		{ "0.0.0.0", 1, SCOPE_LOOPBACK }, { "::", 1, SCOPE_LOOPBACK },
		{ "0.0.0.0", 0, SCOPE_EXPOSED }, { "::", 0, SCOPE_EXPOSED }, { "0.0.0.0", 2, SCOPE_EXPOSED }, { "128.0.0.1", 0, SCOPE_EXPOSED },
		{ "126.255.255.255", 0, SCOPE_EXPOSED }, { "192.168.1.1", 0, SCOPE_EXPOSED }, { "::2", 0, SCOPE_EXPOSED }, { "fe80::1", 0, SCOPE_EXPOSED },
		{ "::ffff:10.0.0.1", 0, SCOPE_EXPOSED }, { "::127.0.0.1", 0, SCOPE_EXPOSED },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct address address = parse(rows[i].address);

		cr_expect_eq(addr_scope(&address, rows[i].device), rows[i].scope, "%s on device %u", rows[i].address, rows[i].device);
	}
}

Test(addr, who_accepts_what)
{
	static const struct {
		const char *bound;
		bool is_v6only;
		const char *local;
		bool accepts;
	} rows[] = {
		{ "127.0.0.1", false, "127.0.0.1", true }, { "127.0.0.1", false, "127.0.0.2", false }, { "127.0.0.1", false, "::1", false },
		{ "127.0.0.1", false, "::ffff:127.0.0.1", true }, { "::1", false, "::1", true }, { "::1", false, "127.0.0.1", false },
		{ "0.0.0.0", false, "10.1.2.3", true }, { "0.0.0.0", false, "::1", false }, { "0.0.0.0", false, "::ffff:10.1.2.3", true },
		{ "::", false, "::1", true }, { "::", false, "127.0.0.1", true }, { "::", false, "::ffff:127.0.0.1", true },
		{ "::", true, "::1", true }, { "::", true, "127.0.0.1", false }, { "::", true, "::ffff:127.0.0.1", false },
		{ "::ffff:127.0.0.1", false, "127.0.0.1", true }, { "::ffff:0.0.0.0", false, "127.0.0.1", true }, { "::ffff:0.0.0.0", false, "::1", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct address bound = parse(rows[i].bound), local = parse(rows[i].local);

		cr_expect_eq(addr_accepts(&bound, rows[i].is_v6only, &local), rows[i].accepts, "%s%s and %s", rows[i].bound,
			     rows[i].is_v6only ? " (v6only)" : "", rows[i].local);
	}
}

Test(addr, the_same_host_address)
{
	static const struct {
		const char *a, *b;
		bool is_equal;
	} rows[] = {
		{ "127.0.0.1", "127.0.0.1", true }, { "127.0.0.1", "127.0.0.2", false }, { "127.0.0.1", "::ffff:127.0.0.1", true },
		{ "::ffff:1.2.3.4", "::ffff:1.2.3.4", true }, { "::ffff:1.2.3.4", "::ffff:1.2.3.5", false }, { "127.0.0.1", "::1", false },
		{ "::1", "::1", true }, { "fe80::1", "fe80::2", false }, { "0.0.0.0", "::", false }, { "1.2.3.4", "::1.2.3.4", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct address a = parse(rows[i].a), b = parse(rows[i].b);

		cr_expect_eq(addr_equal(&a, &b), rows[i].is_equal, "%s and %s", rows[i].a, rows[i].b);
		cr_expect_eq(addr_equal(&b, &a), rows[i].is_equal, "%s and %s", rows[i].b, rows[i].a);
	}
}

Test(addr, what_lies_behind_an_ipv4_address_does_not_count)
{
	struct address a = parse("127.0.0.1"), b = a, any = parse("0.0.0.0");

	memset(b.bytes + 4, 0xff, sizeof(b.bytes) - 4);
	memset(any.bytes + 4, 0xff, sizeof(any.bytes) - 4);
	cr_expect(addr_equal(&a, &b));
	cr_expect(addr_is_any(&any));
	cr_expect(addr_accepts(&any, false, &a));
	cr_expect_not(addr_is_v4_mapped(&a));
}

Test(addr, said_as_people_do)
{
	char buffer[ADDR_TEXT_SIZE];
	struct address address = parse("127.0.0.1");

	cr_expect_str_eq(addr_format_port(&address, 80, buffer), "127.0.0.1:80");
	address = parse("0.0.0.0");
	cr_expect_str_eq(addr_format_port(&address, 80, buffer), "*:80");
	address = parse("::");
	cr_expect_str_eq(addr_format_port(&address, 80, buffer), "[::]:80");
	address = parse("1111:2222:3333:4444:5555:6666:255.255.255.255");
	cr_expect_str_eq(addr_format_port(&address, 65535, buffer), "[1111:2222:3333:4444:5555:6666:ffff:ffff]:65535");
	address = parse("::1");
	cr_expect_str_eq(addr_format_port(&address, 65535, buffer), "[::1]:65535");
	address = parse("::ffff:127.0.0.1");
	cr_expect_str_eq(addr_format(&address, buffer), "::ffff:127.0.0.1");
	address.family = 77;
	cr_expect_str_eq(addr_format(&address, buffer), "?");
}
