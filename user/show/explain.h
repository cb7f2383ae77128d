/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * explain: every check of every rule for one listener, in order, with the facts used and the deciding one; the chain from each holder to the
 * anchor with who is alive, when each ended and why it was skipped; what would change the verdict. Good enough to settle an argument.
 */
#include "status.h"

void explain_print(const struct status_frame *frame, const struct status_row *row, enum step step, const int *tree, int tree_count, FILE *out);
void explain_print_json(const struct status_frame *frame, const struct status_row *row, enum step step, const int *tree, int tree_count,
			FILE *out);
