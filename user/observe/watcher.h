/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * Tells that some socket began or ceased to listen. A program of its own with a ring of its own, attached while the watcher is open and gone
 * with the process: nothing is buffered while nobody watches, and watchers do not take each other's records.
 */
#include <stdint.h>
#include "failure.h"

struct watcher;

int watcher_open(struct watcher **ret, struct failure *ret_failure);
void watcher_close(struct watcher *watcher);
/* To poll: readable when something changed. */
int watcher_fd(const struct watcher *watcher);
/* Empties the ring. *ret_missed: changes since the last call for which there was no room. */
int watcher_drain(struct watcher *watcher, uint64_t *ret_missed);
