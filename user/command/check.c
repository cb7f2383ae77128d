/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include "command.h"

int command_check(const struct invocation *invocation)
{
	struct failure failure = { 0 };
	struct config *config;

	if (config_load(invocation->operand ? invocation->operand : invocation->config_path, &config, &failure) < 0) {
		/* FILE:LINE: first, as compilers do: editors jump to it. */
		fprintf(stderr, "%s\n", failure.text);
		return EXIT_USAGE;
	}
	config_print(config, stdout);
	config_free(config);
	return EXIT_DONE;
}
