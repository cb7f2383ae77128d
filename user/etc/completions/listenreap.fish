# SPDX-License-Identifier: GPL-2.0-only
complete -c listenreap -f
complete -c listenreap -n __fish_use_subcommand -a status -d 'show the listeners with their verdicts'
complete -c listenreap -n __fish_use_subcommand -a explain -d 'every check of every rule for a listener'
complete -c listenreap -n __fish_use_subcommand -a sweep -d 'judge once, reap what is due'
complete -c listenreap -n __fish_use_subcommand -a run -d 'sweep for ever'
complete -c listenreap -n __fish_use_subcommand -a watch -d 'what opens, closes and is orphaned'
complete -c listenreap -n __fish_use_subcommand -a keep -d 'spare a listener by hand'
complete -c listenreap -n __fish_use_subcommand -a load -d 'start tracking'
complete -c listenreap -n __fish_use_subcommand -a unload -d 'stop tracking'
complete -c listenreap -n __fish_use_subcommand -a check -d 'validate the config'
complete -c listenreap -n __fish_use_subcommand -a doctor -d 'what this kernel and these privileges allow'
complete -c listenreap -n __fish_use_subcommand -a metrics -d 'numbers for Prometheus'
complete -c listenreap -l pin-dir -r -F -d 'where the pins are'
complete -c listenreap -l config -r -F -d 'config file'
complete -c listenreap -l help -d help
complete -c listenreap -n '__fish_seen_subcommand_from status explain sweep watch' -l json -d 'as JSON'
complete -c listenreap -n '__fish_seen_subcommand_from sweep run' -l dry-run -d 'signal nobody'
complete -c listenreap -n '__fish_seen_subcommand_from run' -l log-format -x -a 'text json'
complete -c listenreap -n '__fish_seen_subcommand_from status' -l watch -d 'redraw on change'
complete -c listenreap -n '__fish_seen_subcommand_from status' -s H -l no-header
complete -c listenreap -n '__fish_seen_subcommand_from status' -l port -x
complete -c listenreap -n '__fish_seen_subcommand_from status' -l pid -x
complete -c listenreap -n '__fish_seen_subcommand_from status' -l user -x -a '(__fish_complete_users)'
complete -c listenreap -n '__fish_seen_subcommand_from status' -l scope -x -a 'loopback exposed'
complete -c listenreap -n '__fish_seen_subcommand_from status' -l orphan
complete -c listenreap -n '__fish_seen_subcommand_from status' -l verdict -x -a 'reap wait spare'
complete -c listenreap -n '__fish_seen_subcommand_from keep' -l for -x
complete -c listenreap -n '__fish_seen_subcommand_from keep' -l list
complete -c listenreap -n '__fish_seen_subcommand_from keep' -l remove
complete -c listenreap -n '__fish_seen_subcommand_from check' -F
