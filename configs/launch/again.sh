#!/bin/sh
# Runs a command again as long as it ends with 1 or 4: a machine failed, or the run is incomplete.
# 2, 3 and 5 (bad input, a damaged run, a contradiction) need a person, so they end it.
#   sh again.sh orderly run 4x4-enable2k --workers 16 --out s3://BUCKET/4x4
until "$@"; do
    code=$?
    case $code in
        1 | 4) sleep "${AGAIN_S:-30}" ;;
        *) exit "$code" ;;
    esac
done
