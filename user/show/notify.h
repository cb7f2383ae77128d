/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * systemd's readiness protocol (sd_notify(3)): one datagram of NAME=VALUE lines to $NOTIFY_SOCKET. Without that variable nothing is
 * sent. A failure to tell is not a failure to work: nothing is returned.
 */
#include <stdint.h>

void notify_send(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Half of $WATCHDOG_USEC when it is meant for us ($WATCHDOG_PID), in ns: how often to say WATCHDOG=1. 0: nobody asked. */
uint64_t notify_watchdog_ns(void);
