/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include "failure.h"

int failure_set(struct failure *failure, int err, const char *format, ...)
{
	va_list arguments;

	failure->err = err;
	va_start(arguments, format);
	vsnprintf(failure->text, sizeof(failure->text), format, arguments);
	va_end(arguments);
	for (char *byte = failure->text; *byte; byte++)
		if ((unsigned char)*byte < ' ' || *byte == 0x7f)
			*byte = '?';
	return err;
}
