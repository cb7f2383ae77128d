/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "duration.h"

#define DAY_S UINT64_C(86400)
#define MAX_S (36500 * DAY_S)

int duration_parse(const char *text, uint64_t *ret_ns)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', DAY_S } };
	uint64_t number = 0;
	const char *at = text;

	/* Too large stays so: what follows must still be a unit. */
	for (; *at >= '0' && *at <= '9'; at++)
		if (number <= MAX_S)
			number = number * 10 + (uint64_t)(*at - '0');
	if (at == text)
		return -EINVAL;
	if (!*at && number == 0) {
		*ret_ns = 0;
		return 0;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (at[0] != units[i].unit || at[1])
			continue;
		if (number > MAX_S / units[i].seconds)
			return -ERANGE;
		*ret_ns = number * units[i].seconds * NS_PER_SEC;
		return 0;
	}
	return -EINVAL;
}

const char *duration_format(uint64_t ns, char buffer[static DURATION_TEXT_SIZE])
{
	uint64_t seconds = ns / NS_PER_SEC, days = seconds / DAY_S, hours = seconds / 3600 % 24, minutes = seconds / 60 % 60;

	if (days && hours)
		snprintf(buffer, DURATION_TEXT_SIZE, "%llud %lluh", (unsigned long long)days, (unsigned long long)hours);
	else if (days)
		snprintf(buffer, DURATION_TEXT_SIZE, "%llud", (unsigned long long)days);
	else if (hours && minutes)
		snprintf(buffer, DURATION_TEXT_SIZE, "%lluh %llum", (unsigned long long)hours, (unsigned long long)minutes);
	else if (hours)
		snprintf(buffer, DURATION_TEXT_SIZE, "%lluh", (unsigned long long)hours);
	else if (minutes && seconds % 60)
		snprintf(buffer, DURATION_TEXT_SIZE, "%llum %llus", (unsigned long long)minutes, (unsigned long long)(seconds % 60));
	else if (minutes)
		snprintf(buffer, DURATION_TEXT_SIZE, "%llum", (unsigned long long)minutes);
	else
		snprintf(buffer, DURATION_TEXT_SIZE, "%llus", (unsigned long long)seconds);
	return buffer;
}
