/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <locale.h>
#include <pwd.h>
#include <string.h>
#include <wchar.h>
#include "text.h"

/* One code point at bytes[0 .. length); its size, or 0 when it is not valid UTF-8 (RFC 3629: no overlong forms, no surrogates). */
static size_t decode(const unsigned char *bytes, size_t length, uint32_t *ret)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t size = bytes[0] < 0x80 ? 1 : bytes[0] >> 5 == 6 ? 2 : bytes[0] >> 4 == 14 ? 3 : bytes[0] >> 3 == 30 ? 4 : 0;
	uint32_t point = size == 1 ? bytes[0] : bytes[0] & (0xffu >> (size + 1));

	if (size == 0 || size > length)
		return 0;
	for (size_t i = 1; i < size; i++) {
		if (bytes[i] >> 6 != 2)
			return 0;
		point = point << 6 | (bytes[i] & 0x3f);
	}
	if (size > 1 && (point < smallest[size] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)))
		return 0;
	*ret = point;
	return size;
}

/* The C library knows the width of a character only in a locale; ours stays "C", in which fnmatch(3) is ten times as fast. */
static size_t width_of(uint32_t point)
{
	static locale_t utf8;
	locale_t before;
	int width;

	if (point < 0x80)
		return 1;
	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!utf8)
		return 1;
	before = uselocale(utf8);
	width = wcwidth((wchar_t)point);
	uselocale(before);
	return width < 0 ? 1 : (size_t)width;
}

/* Format characters that change how what follows is read: bidi controls, zero width, line and paragraph separators, tags. */
static bool is_deceptive(uint32_t point)
{
	return (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x206f) ||
	       point == 0x061c || point == 0xfeff || (point >= 0xe0000 && point <= 0xe007f) || point == 0xad;
}

size_t text_escape(const char *bytes, size_t length, size_t columns, char *buffer, size_t size)
{
	const unsigned char *at = (const unsigned char *)bytes, *end = at + length;
	size_t used = 0, shown = 0, fit_used = 0;	/* fit: what leaves room for an ellipsis */

	if (size == 0)
		return 0;
	while (at < end) {
		char piece[16];
		uint32_t point = 0;
		size_t step = decode(at, (size_t)(end - at), &point), piece_length, width;

		if (step == 0) {
			piece_length = (size_t)snprintf(piece, sizeof(piece), "\\x%02x", *at);
			step = 1;
		} else if (point == '\n' || point == '\t' || point == '\r' || point == 0x1b || point == '\\') {
			piece_length = (size_t)snprintf(piece, sizeof(piece), "\\%c",
							point == '\n' ? 'n' : point == '\t' ? 't' : point == '\r' ? 'r' : point == 0x1b ? 'e' : '\\');
		} else if (point < ' ' || (point >= 0x7f && point < 0xa0)) {
			piece_length = (size_t)snprintf(piece, sizeof(piece), "\\x%02x", point);
		} else if (is_deceptive(point)) {
			piece_length = (size_t)snprintf(piece, sizeof(piece), "\\u{%04x}", point);
		} else {
			memcpy(piece, at, step);
			piece_length = step;
		}
		width = piece_length;
		if (piece_length == step && step > 1)
			width = width_of(point);
		if (shown + width > columns || used + piece_length + 4 > size) {
			used = columns > 0 && fit_used + 4 <= size ? fit_used : 0;
			if (columns > 0 && used + 4 <= size) {
				memcpy(buffer + used, "\xe2\x80\xa6", 3);	/* an ellipsis */
				used += 3;
			}
			break;
		}
		memcpy(buffer + used, piece, piece_length);
		used += piece_length;
		shown += width;
		if (shown + 1 <= columns)
			fit_used = used;
		at += step;
	}
	buffer[used] = '\0';
	return used;
}

size_t text_columns(const char *text)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
	size_t columns = 0;

	while (at < end) {
		uint32_t point = 0;
		size_t step = decode(at, (size_t)(end - at), &point);

		columns += width_of(point);
		at += step ? step : 1;
	}
	return columns;
}

const char *text_user(uint32_t uid)
{
	static struct {
		uint32_t uid;
		bool is_used;
		char name[40];
	} cache[64];
	unsigned slot = uid % (sizeof(cache) / sizeof(cache[0]));
	const struct passwd *user;

	if (cache[slot].is_used && cache[slot].uid == uid)
		return cache[slot].name;
	user = getpwuid(uid);
	cache[slot].uid = uid;
	cache[slot].is_used = true;
	if (user)
		text_escape(user->pw_name, strlen(user->pw_name), 32, cache[slot].name, sizeof(cache[slot].name));
	else
		snprintf(cache[slot].name, sizeof(cache[slot].name), "%u", uid);
	return cache[slot].name;
}

/* The name that tells most: what an interpreter runs, else what was executed. */
static struct span best_name(const struct process *process)
{
	const struct program *program = &process->program;

	if (program->package.length)
		return program->package;
	if (program->script.length)
		return program->script;
	if (program->module.length)
		return program->module;
	if (program->main.length)
		return program->main;
	if (process->comm && *process->comm)
		return (struct span){ process->comm, strlen(process->comm) };
	return program->exe.length ? program->exe : program->argv0;
}

void text_process(const struct process *process, char *buffer, size_t size)
{
	struct span name = best_name(process);
	size_t used = text_escape(name.start ? name.start : "?", name.start ? name.length : 1, 32, buffer, size);

	snprintf(buffer + used, size - used, "(%u)", process->id.tgid);
}

static const char *ago(uint64_t then_boot_ns, uint64_t now_boot_ns, char buffer[static DURATION_TEXT_SIZE])
{
	return duration_format(now_boot_ns > then_boot_ns ? now_boot_ns - then_boot_ns : 0, buffer);
}

static const char *keeper_article(enum keeper kind)
{
	switch (kind) {
	case KEEPER_AGENT: return "agent ";
	case KEEPER_PERSON: return "";
	case KEEPER_SUPERVISOR: return "supervisor ";
	case KEEPER_MANAGER: return "manager ";
	default: return "";
	}
}

void text_detail(const struct world *world, const struct ruleset *ruleset, const struct verdict *verdict, int listener, uint64_t now_boot_ns,
		 char *buffer, size_t size)
{
	const struct listener *subject = &world->listeners[listener];
	char age[DURATION_TEXT_SIZE], orphaned[DURATION_TEXT_SIZE], due[DURATION_TEXT_SIZE];
	char anchor[160] = "nobody known", culprit[160] = "a process", rule[96] = "", broke[160] = "a process", opener[96] = "";
	bool has_anchor = verdict->walk.anchor != NONE;

	text_escape(subject->opener_comm, strlen(subject->opener_comm), 16, opener, sizeof(opener));
	ago(subject->opened_boot_ns, now_boot_ns, age);
	ago(verdict->orphaned_boot_ns, now_boot_ns, orphaned);
	duration_format(verdict->has_due && verdict->due_boot_ns > now_boot_ns ? verdict->due_boot_ns - now_boot_ns + NS_PER_SEC - 1 : 0, due);
	if (has_anchor)
		text_process(&world->processes[verdict->walk.anchor], anchor, sizeof(anchor));
	if (verdict->culprit != NONE)
		text_process(&world->processes[verdict->culprit], culprit, sizeof(culprit));
	if (verdict->walk.broke_at != NONE)
		text_process(&world->processes[verdict->walk.broke_at], broke, sizeof(broke));
	if (verdict->rule != NONE)
		text_escape(ruleset->rules[verdict->rule].matcher.name, strlen(ruleset->rules[verdict->rule].matcher.name), 48, rule, sizeof(rule));

	switch (verdict->reason) {
	case REASON_DUE:
		if (verdict->has_orphaned)
			snprintf(buffer, size, "its owner %s%s ended %s ago and nobody uses it (rule %s)", keeper_article(verdict->walk.anchor_kind), anchor,
				 orphaned, rule);
		else
			snprintf(buffer, size, "it has listened for %s and nobody uses it (rule %s)", age, rule);
		break;
	case REASON_YOUNG:
		snprintf(buffer, size, "it has listened for only %s; due in %s if nothing changes (rule %s)", age, due, rule);
		break;
	case REASON_RECENTLY_ORPHANED:
		snprintf(buffer, size, "its owner %s%s ended only %s ago; due in %s if nothing changes (rule %s)",
			 keeper_article(verdict->walk.anchor_kind), anchor, orphaned, due, rule);
		break;
	case REASON_ANCHOR_ALIVE:
		snprintf(buffer, size, "%s%s, which it was started under, is alive", keeper_article(verdict->walk.anchor_kind), anchor);
		break;
	case REASON_LINEAGE_UNKNOWN:
		snprintf(buffer, size, "who gave birth to %s was not seen: it is older than the tracking", broke);
		break;
	case REASON_OPERATOR:
		snprintf(buffer, size, "an operator's own: started by hand from %s, which ended %s ago", anchor, orphaned);
		break;
	case REASON_DAEMON:
		snprintf(buffer, size, "a daemon of %s%s: detached itself, or started at boot", keeper_article(verdict->walk.anchor_kind), anchor);
		break;
	case REASON_NO_RULE:
		snprintf(buffer, size, "no rule names it");
		break;
	case REASON_REPORT_ONLY:
		snprintf(buffer, size, "it would be due, but rule %s only reports", rule);
		break;
	case REASON_PROTECTED:
		if (verdict->other != NONE)
			snprintf(buffer, size, "%s, which would go with it, holds port %u, which is not due", culprit, world->listeners[verdict->other].port);
		else
			snprintf(buffer, size, "%s, which would go with it, is protected (%s)", culprit, verdict->what ? verdict->what : "");
		break;
	case REASON_FLOOR:
		snprintf(buffer, size, "%s is never touched: %s", culprit, verdict->what ? verdict->what : "");
		break;
	case REASON_OPT_OUT:
		if (verdict->culprit != NONE)
			snprintf(buffer, size, "%s asks to be kept: %s is set in its environment", culprit, verdict->what);
		else
			snprintf(buffer, size, "kept by hand (listenreap keep)");
		break;
	case REASON_IN_USE:
		if (verdict->what)
			snprintf(buffer, size, "whether somebody uses it %s", verdict->what);
		else if (verdict->is_recent_use)
			snprintf(buffer, size, "somebody used it within the last minute");
		else
			snprintf(buffer, size, "in use: %d connection%s", verdict->connections, verdict->connections == 1 ? "" : "s");
		break;
	case REASON_OTHER_USER:
		snprintf(buffer, size, "%s runs as another user: %s", culprit, verdict->what ? verdict->what : "");
		break;
	case REASON_NAMESPACE:
		snprintf(buffer, size, "it lives in %s", verdict->what ? verdict->what : "another namespace");
		break;
	case REASON_SERVICE:
		snprintf(buffer, size, "%s runs in a systemd service, which systemd looks after", culprit);
		break;
	case REASON_NO_HOLDER:
		snprintf(buffer, size, "nobody holds it any more");
		break;
	case REASON_UNREADABLE:
		snprintf(buffer, size, "not everything that matters can be read: %s", verdict->what ? verdict->what : "");
		break;
	case REASON_FOREIGN_HOLDER:
		snprintf(buffer, size, "%s holds it too, another program that no rule names (%s opened it)", culprit, opener);
		break;
	case REASON_RESPAWNED:
		snprintf(buffer, size, "it came back %s after we stopped it: somebody restarts it",
			 ago(subject->stopped_boot_ns, subject->opened_boot_ns, orphaned));
		break;
	case REASON_LIMIT:
		snprintf(buffer, size, "due, but max-reaps = %u trees are already due in this sweep", ruleset->max_reaps);
		break;
	case REASON_MAX:
		snprintf(buffer, size, "?");
		break;
	}
}
