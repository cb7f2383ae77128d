/* SPDX-License-Identifier: GPL-2.0-only */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../show/explain.h"
#include "judged.h"

/* "8080" is a pid, ":8080" a port. */
static bool parse_operand(const char *text, struct filter *ret)
{
	bool is_port = *text == ':';
	unsigned long number;
	char *end;

	text += is_port;
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	number = strtoul(text, &end, 10);
	if (*end || errno || number == 0 || number > (is_port ? UINT16_MAX : INT32_MAX))
		return false;
	if (is_port)
		ret->port = (long)number;
	else
		ret->pid = (long)number;
	return true;
}

static int explain_row(struct session *session, const struct invocation *invocation, struct judged *judged, int index)
{
	struct status_frame frame = judged_frame(session, judged, true);
	struct status_row *row = &judged->rows[index];
	int *tree = NULL, tree_count = 0, err;
	struct verdict verdict;
	enum step step;

	err = observation_judge(judged->observation, frame.ruleset, judged->now_boot_ns, row->listener, &verdict, &step, &tree,
				&tree_count);
	for (int i = 0; i < tree_count && err == 0; i++)
		err = observation_describe(judged->observation, tree[i]);
	if (err == 0 && invocation->is_json)
		explain_print_json(&frame, row, step, tree, tree_count, stdout);
	else if (err == 0)
		explain_print(&frame, row, step, tree, tree_count, stdout);
	free(tree);
	return err;
}

int command_explain(const struct invocation *invocation)
{
	struct invocation wanted = *invocation;
	struct failure failure = { 0 };
	struct judged judged = { 0 };
	struct session session;
	int code, err = 0;

	if (!parse_operand(invocation->operand, &wanted.filter)) {
		command_say("explain: `%s` is neither a pid nor a port; say `listenreap explain 4711` or `listenreap explain :8080`",
			    invocation->operand);
		return EXIT_USAGE;
	}
	code = session_open(invocation, false, &session);
	if (code == EXIT_DONE && judged_take(&session, &wanted.filter, &judged, &failure) < 0)
		code = command_fail(&failure);
	if (code == EXIT_DONE && judged.count == 0) {
		command_say("explain: nothing listens %s %s", wanted.filter.port >= 0 ? "on" : "as process", invocation->operand);
		code = EXIT_FAILED;
	}
	/* One listener is one object; several, on one port or of one process, are an array. */
	bool is_array = invocation->is_json && judged.count > 1;

	if (code == EXIT_DONE && is_array)
		putchar('[');
	for (int i = 0; i < judged.count && code == EXIT_DONE && err == 0; i++) {
		if (i > 0)
			putchar(invocation->is_json ? ',' : '\n');
		err = explain_row(&session, invocation, &judged, i);
	}
	if (code == EXIT_DONE && is_array)
		puts("]");
	if (err < 0) {
		command_say("explain: %s", strerror(-err));
		code = EXIT_FAILED;
	}
	judged_free(&judged);
	session_close(&session);
	return code;
}
