/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/* Log lines on stderr: a journald priority prefix when stderr is not a terminal (sd-daemon(3)), text or JSON. One line each. */
#include "../act/reaper.h"

enum log_format { LOG_TEXT, LOG_JSON };
enum log_level { LEVEL_ERROR = 3, LEVEL_WARNING = 4, LEVEL_NOTICE = 5, LEVEL_INFO = 6 };

void log_open(enum log_format format);
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One structured line an act: rule, facts, identity, outcome. Never environment values. */
void log_act(const struct act *act);
