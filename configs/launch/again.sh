#!/bin/sh
# Runs a command again as long as its exit code says that this helps (docs/clusters.md, "Exit codes"):
#   4             stopped, or incomplete: again
#   1, 6          a bug, or a machine, disk, store or cluster that failed: again, but five such starts in a row, none of
#                 an hour, end it; likewise a driver that a signal ended in its first instant (129 to 143)
#   all others    need a person: it ends with that code
# HUP, INT, TERM, USR1 and USR2 go on to the command, which stores what has arrived; nothing is started after them.
#   sh again.sh orderly run 4x4-enable2k --workers 16 --out s3://BUCKET/4x4
stopped='' heard='' failures=0

hear() {
    stopped=1 heard=1
    kill "-$1" $! 2>/dev/null # the command, or the pause
}
trap 'hear HUP' HUP
trap 'hear TERM' INT TERM # what a script starts in the background ignores INT
trap 'hear USR1' USR1
trap 'hear USR2' USR2

while :; do
    began=$(date +%s) code=127
    "$@" &
    child=$!
    [ -z "$stopped" ] || kill -TERM "$child"
    while :; do
        heard=''
        wait "$child"
        ended=$?
        [ $ended -eq 127 ] || code=$ended # 127: it was waited for already
        [ -n "$heard" ] || break          # else the signal ended the wait, not the command
    done
    if [ -n "$stopped" ]; then
        [ $code -lt 128 ] || code=4 # it could not listen yet
        exit $code
    fi
    [ $(($(date +%s) - began)) -lt 3600 ] || failures=0
    case $code in
        4) failures=0 ;;
        1 | 6 | 129 | 138 | 140 | 143) failures=$((failures + 1)) ;;
        *) exit $code ;;
    esac
    [ $failures -lt 5 ] || exit $code
    sleep "${AGAIN_S:-30}" &
    wait $!
    [ -z "$stopped" ] || exit $code
done
