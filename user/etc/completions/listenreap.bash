# SPDX-License-Identifier: GPL-2.0-only
# bash completion for listenreap

_listenreap()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' i
	local every='--pin-dir --config --help'

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--pin-dir | --config | --port | --pid | --user | --scope | --verdict | --for | --log-format) ((i++)) ;;
		-*) ;;
		*)
			command=${COMP_WORDS[i]}
			break
			;;
		esac
	done
	COMPREPLY=()
	case $before in
	--pin-dir) mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
	--config) mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
	--user) mapfile -t COMPREPLY < <(compgen -u -- "$word") && return ;;
	--scope) mapfile -t COMPREPLY < <(compgen -W 'loopback exposed' -- "$word") && return ;;
	--verdict) mapfile -t COMPREPLY < <(compgen -W 'reap wait spare' -- "$word") && return ;;
	--log-format) mapfile -t COMPREPLY < <(compgen -W 'text json' -- "$word") && return ;;
	--port | --pid | --for) return ;;
	esac
	case $command in
	'') every="status explain sweep run watch keep load unload check doctor metrics --help --version" ;;
	status) every+=' --json --watch --no-header --port --pid --user --scope --orphan --verdict' ;;
	sweep) every+=' --json --dry-run' ;;
	run) every+=' --dry-run --log-format' ;;
	explain | watch) every+=' --json' ;;
	keep) every+=' --for --list --remove' ;;
	check) [[ $word == -* ]] || { mapfile -t COMPREPLY < <(compgen -f -- "$word") && return; } ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$every" -- "$word")
}
complete -F _listenreap listenreap
