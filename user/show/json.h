/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/* JSON by json-c: what status, sweep, explain and the log say to programs. Strings of processes become valid UTF-8. */
#include <json-c/json.h>
#include "status.h"

/* Bytes that are not UTF-8 become U+FFFD, one for each that text_decode() finds. */
struct json_object *json_text(const char *bytes, size_t length);
/* NULL text: null. */
struct json_object *json_string(const char *text);
/* The contract's listener object; the caller puts it. */
struct json_object *json_listener(const struct status_frame *frame, const struct status_row *row);
struct json_object *json_act(const struct act *act);
/* With milliseconds, written as they are and not as the nearest double. */
struct json_object *json_seconds(uint64_t ns);
void json_write(struct json_object *object, FILE *out);	/* puts it too */
