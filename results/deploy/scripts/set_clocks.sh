# Without an option nothing is changed: every file is looked for, every frequency held against the
# device's own list, and what would be written is printed. As root:
#
#   --apply     saves what is set now, sets the clocks, reads them back; puts everything back if
#               anything fails
#   --restore   puts back what was saved
#
# SYSFS_ROOT is put before all paths (for tests). SAVED_CLOCKS is the file that remembers; by
# default /run/paretosoc-clocks, which does not outlive a reboot, as clocks do not either.
#
# Order: units whose clock falls, then the memory, then units whose clock rises, so that the memory
# is never slower than the old and the new clocks ask for, and power falls before it rises. Of a
# pair of limits the one goes first that keeps the lower below the upper.

set -u
LC_ALL=C
export LC_ALL

root=${SYSFS_ROOT:-}
saved=${SAVED_CLOCKS:-$root/run/paretosoc-clocks}
sysfs=$(readlink -f "$root/sys")
problems=0
reason=
phase=check

usage() {
    echo "usage: $0 [--apply | --restore]"
}

problem() {
    echo "$0: $*" >&2
    problems=$((problems + 1))
}

is_number() {
    case $1 in
        '' | *[!0-9]*) return 1 ;;
    esac
}

# Prints the number in a file; fails where there is none.
number_in() {
    content=$(cat "$1" 2>/dev/null) || return 1
    is_number "$content" || return 1
    printf '%s\n' "$content"
}

# Whether a file, its links resolved, is in one of the trees that hold clocks.
in_sysfs() {
    [ -n "$sysfs" ] || return 1
    case $(readlink -f "$1") in
        "$sysfs"/devices/* | "$sysfs"/class/* | "$sysfs"/kernel/debug/*) ;;
        *) return 1 ;;
    esac
}

# Writes nothing but clocks, whatever a path says. The outer braces catch the shell's own complaint
# where the file cannot be opened.
write() {
    reason='it is outside of /sys'
    in_sysfs "$1" && reason=$({ printf '%s\n' "$2" >"$1"; } 2>&1)
}

cannot_be_written() {
    problem "$1: cannot be written ($2): ${reason##*: }"
    return 1
}

write_and_check() {
    if ! write "$1" "$2"; then
        cannot_be_written "$1" "$2"
        return
    fi
    if ! now=$(number_in "$1") || [ "$now" != "$2" ]; then
        problem "$1: reads ${now:-nothing} after $2 was written"
        return 1
    fi
}

# The first of some folders that exists.
first_folder() {
    for folder in "$@"; do
        if [ -d "$root$folder" ]; then
            printf '%s\n' "$root$folder"
            return 0
        fi
    done
    return 1
}

# Appends a line to what is saved unless its file is there already: what counts is the state
# before the first run. Arguments: pair LOW HIGH | file PATH [VALUE, where PATH is for writing only]
remember() {
    if [ -f "$saved" ] && grep -qF " $2 " "$saved"; then
        return 0
    fi
    case $1 in
        pair) line="pair $2 $3 $(number_in "$2") $(number_in "$3")" ;;
        *) line="file $2 ${3:-$(number_in "$2")}" ;;
    esac
    if ! { printf '%s\n' "$line" >>"$saved"; } 2>/dev/null; then
        problem "$saved: cannot be written; without it nothing could be put back"
        return 1
    fi
}

# Sets the limits LOW and HIGH to the values given, in the order that is safe.
write_pair() {
    current=$(number_in "$1") || {
        problem "$1: cannot be read"
        return 1
    }
    if [ "$4" -ge "$current" ]; then
        write_and_check "$2" "$4" && write_and_check "$1" "$3"
    else
        write_and_check "$1" "$3" && write_and_check "$2" "$4"
    fi
}

check_readable() {
    for name in "$@"; do
        if ! number_in "$name" >/dev/null; then
            problem "$domain: $name: is missing, or cannot be read (as root?)"
            return 1
        fi
        if ! in_sysfs "$name"; then
            problem "$domain: $name: must be in /sys/devices, /sys/class or /sys/kernel/debug"
            return 1
        fi
    done
}

# Prints the frequency of the list that is nearest to the wanted one.
nearest() {
    found=none least=
    for one in $(tr '\n\t' '  ' <"$ladder"); do
        is_number "$one" || continue
        away=$((one > want ? one - want : want - one))
        if [ -z "$least" ] || [ "$away" -lt "$least" ]; then
            found=$one least=$away
        fi
    done
    printf '%s\n' "$found"
}

check_pair() {
    check_readable "$low" "$high" || return
    if [ ! -r "$ladder" ]; then
        problem "$domain: $ladder: is missing, or cannot be read (as root?)"
        return
    fi
    case " $(tr '\n\t' '  ' <"$ladder") " in
        *" $want "*) show "$(number_in "$low") to $(number_in "$high")" ;;
        *) problem "$domain: $want is not among the frequencies in $ladder; nearest: $(nearest)" ;;
    esac
}

check_rate() {
    check_readable "$rate" "$lock" "$lowest" "$highest" || return
    if [ "$want" -lt "$(number_in "$lowest")" ] || [ "$want" -gt "$(number_in "$highest")" ]; then
        problem "$domain: $want is outside $(cat "$lowest") to $(cat "$highest") of $node"
        return
    fi
    show "$(number_in "$rate")"
}

show() {
    echo "$domain: $1 -> $want${unit:+ $unit}  ($node)"
}

set_pair() {
    remember pair "$low" "$high" && write_pair "$low" "$high" "$want" "$want"
}

# The firmware rounds a rate to what it can make: one percent.
set_rate() {
    for name in "$lock" "$node/state"; do
        if [ -e "$name" ]; then
            remember file "$name" || return
        fi
    done
    remember file "$target" "$(number_in "$rate")" || return
    write_and_check "$lock" 1 || return
    if [ -e "$node/state" ]; then
        write_and_check "$node/state" 1 || return
    fi
    if ! write "$target" "$want"; then
        cannot_be_written "$target" "$want"
        return
    fi
    got=$(number_in "$rate") || got=0
    off=$((got - want))
    if [ "${off#-}" -gt $((want / 100)) ]; then
        problem "$rate: reads $got after $want was written"
    fi
}

# clock ROLE KIND DOMAIN FREQUENCY FOLDER...: one clock; of the folders the first that exists.
clock() {
    role=$1 kind=$2 domain=$3 want=$4
    shift 4
    if ! node=$(first_folder "$@"); then
        problem "$domain: none of these folders exists, or only root sees it: $*"
        return
    fi
    low='' high='' ladder='' rate='' unit=Hz
    case $kind in
        cpufreq)
            unit=kHz
            low=$node/scaling_min_freq high=$node/scaling_max_freq
            ladder=$node/scaling_available_frequencies
            ;;
        devfreq)
            low=$node/min_freq high=$node/max_freq ladder=$node/available_frequencies
            ;;
        bpmp)
            rate=$node/rate target=$rate lock=$node/mrq_rate_locked
            lowest=$node/min_rate highest=$node/max_rate
            ;;
        override)
            rate=$node/clk_rate target=$node/clk_update_rate lock=$node/clk_state
            lowest=$root/sys/kernel/debug/tegra_bwmgr/emc_min_rate
            highest=$root/sys/kernel/debug/tegra_bwmgr/emc_max_rate
            ;;
    esac
    if [ "$phase" = check ]; then
        if [ -n "$rate" ]; then check_rate; else check_pair; fi
        return
    fi
    now=$(number_in "${high:-$rate}") || now=0
    case $role in
        memory) turn=memory ;;
        *) if [ "$want" -lt "$now" ]; then turn=fall; else turn=rise; fi ;;
    esac
    # Each clock has one turn only: its limits look different after it.
    case " $finished " in
        *" $node "*) return ;;
    esac
    if [ "$problems" -eq 0 ] && [ "$turn" = "$phase" ]; then
        finished="$finished $node"
        if [ -n "$rate" ]; then set_rate; else set_pair; fi
    fi
}

# offline DOMAIN FILE: takes a CPU off line, since its domain is off.
offline() {
    domain=$1 node=$root$2 want=0 unit=
    case $phase in
        check) check_readable "$node" && show "$(number_in "$node")" ;;
        fall) [ "$problems" -ne 0 ] || { remember file "$node" && write_and_check "$node" 0; } ;;
    esac
}

# online DOMAIN FILE: accepts only a CPU that is on line.
online() {
    if [ "$phase" != check ]; then
        return
    fi
    domain=$1
    if check_readable "$root$2" && [ "$(number_in "$root$2")" -ne 1 ]; then
        problem "$1: $2 is not 1: the CPU is off line; write 1 to it, or on a Jetson: nvpmodel -m 0"
    fi
}

restore() {
    failures=0
    # Backwards, so that the order is safe again. What was not changed may be read-only.
    while read -r what first second third fourth; do
        case $what in
            pair)
                [ "$(number_in "$first") $(number_in "$second")" = "$third $fourth" ] ||
                    write_pair "$first" "$second" "$third" "$fourth"
                ;;
            file)
                [ "$(number_in "$first")" = "$second" ] || write "$first" "$second" ||
                    cannot_be_written "$first" "$second"
                ;;
        esac || failures=$((failures + 1))
    done <<END
$(sed '1!G;h;$!d' "$saved")
END
    if [ "$failures" -ne 0 ]; then
        echo "$0: $failures settings could not be put back; $saved keeps them" >&2
        return 1
    fi
    rm -f "$saved"
    echo "put back what was set before"
}

put_back_and_leave() {
    trap '' HUP INT TERM
    if [ -f "$saved" ]; then restore; fi
    exit 1
}

apply() {
    finished=
    trap 'problem "interrupted"; put_back_and_leave' HUP INT TERM
    for phase in fall memory rise; do
        settings
        if [ "$problems" -ne 0 ]; then put_back_and_leave; fi
    done
    echo "set and read back; '$0 --restore' puts back what was set before"
}

main() {
    case ${1:-} in
        '' | --apply) ;;
        --restore)
            if [ ! -f "$saved" ]; then
                problem "nothing to put back: there is no file $saved"
                exit 1
            fi
            restore
            exit
            ;;
        -h | --help)
            usage
            exit 0
            ;;
        *)
            usage >&2
            exit 2
            ;;
    esac
    settings
    if [ ! -d "$(dirname "$saved")" ]; then
        problem "$saved: its folder is missing; SAVED_CLOCKS names another file to remember in"
    fi
    if [ "$problems" -ne 0 ]; then
        echo "$0: nothing was changed" >&2
        exit 1
    fi
    if [ "${1:-}" = --apply ]; then
        apply
    else
        echo "dry run: nothing was changed; --apply sets this"
    fi
}
