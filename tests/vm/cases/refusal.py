# SPDX-License-Identifier: GPL-2.0-only
"""A kernel without socket storage for tracing programs (before 5.12): every command that would observe refuses, and changes nothing."""
import os
import platform

from lib.case import case

KERNEL = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2])

if KERNEL < (5, 12):
    @case(tracking=False)
    def load_sweep_and_run_refuse_and_name_what_is_missing(t):
        t.own_tracker(loaded=False)
        for words in (["load"], ["sweep"], ["sweep", "--dry-run"], ["run"]):
            output = t.run(*words, config=False if words == ["load"] else None).exits(3)
            output.says_one_line("socket storage")
            assert not os.path.exists(t.pin_dir), words

    @case(tracking=False)
    def what_reads_says_that_nothing_is_loaded(t):
        t.own_tracker(loaded=False)
        for words in (["status"], ["status", "--json"], ["explain", ":1"]):
            t.run(*words).exits(1, 3).says_one_line()

    @case(tracking=False)
    def doctor_names_each_missing_part(t):
        output = t.run_bare("doctor").exits(3)
        missing = [line for line in output.out.splitlines() if line.startswith("MISSING")]
        assert any("socket storage" in line for line in missing), output
        assert any(line.startswith("ok") for line in output.out.splitlines()), output
