/* SPDX-License-Identifier: GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include "../../user/judge/duration.h"

Test(duration, one_number_with_one_unit)
{
	static const struct {
		const char *text;
		int err;
		uint64_t seconds;
	} rows[] = {
		{ "90s", 0, 90 }, { "5m", 0, 300 }, { "2h", 0, 7200 }, { "1d", 0, 86400 }, { "0", 0, 0 }, { "0s", 0, 0 }, { "36500d", 0, 3153600000 },
		{ "", -EINVAL, 0 }, { "5", -EINVAL, 0 }, { "m", -EINVAL, 0 }, { "-5m", -EINVAL, 0 }, { "5 m", -EINVAL, 0 }, { " 5m", -EINVAL, 0 },
		{ "5m ", -EINVAL, 0 }, { "1.5h", -EINVAL, 0 }, { "5min", -EINVAL, 0 }, { "1h30m", -EINVAL, 0 }, { "5M", -EINVAL, 0 }, { "0x5m", -EINVAL, 0 },
		{ "00", 0, 0 }, { "007s", 0, 7 }, { "876000h", 0, 3153600000 }, { "876001h", -ERANGE, 0 }, { "3153600001s", -ERANGE, 0 },
		{ "36501d", -ERANGE, 0 }, { "18446744073709551617s", -ERANGE, 0 },
		{ "99999999999999999999", -EINVAL, 0 }, { "99999999999999999999x", -EINVAL, 0 }, { "+5m", -EINVAL, 0 }, { "5m\n", -EINVAL, 0 },
		{ "5mm", -EINVAL, 0 }, { "\xd9\xa5m", -EINVAL, 0 }, { "99999999999999999999s", -ERANGE, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t ns = 42;

		cr_expect_eq(duration_parse(rows[i].text, &ns), rows[i].err, "`%s`", rows[i].text);
		cr_expect_eq(ns, rows[i].err ? 42 : rows[i].seconds * NS_PER_SEC, "`%s`", rows[i].text);
	}
}

Test(duration, two_units_at_most)
{
	static const struct {
		uint64_t seconds;
		const char *text;
	} rows[] = {
		{ 0, "0s" }, { 59, "59s" }, { 60, "1m" }, { 61, "1m 1s" }, { 3600, "1h" }, { 3661, "1h 1m" }, { 86400, "1d" }, { 90000, "1d 1h" },
		{ 86460, "1d" }, { 31536000, "365d" },
	};
	char buffer[DURATION_TEXT_SIZE];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_str_eq(duration_format(rows[i].seconds * NS_PER_SEC, buffer), rows[i].text);
	duration_format(UINT64_MAX, buffer);
}
