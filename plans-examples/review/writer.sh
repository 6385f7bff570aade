#!/bin/sh
# The worker of this plan: writer.sh TASK, with its brief on standard input. In a later round the brief holds
# what the reviewer asked for; this worker looks for a word of it and does as it is told.
set -eu

brief=$(cat)
out=plans-examples/review/out
mkdir -p "$out"
# asked WORD: whether somebody asked for it after an earlier round.
asked() {
    printf '%s\n' "$brief" | sed '1,/^## What was wrong with the last round/d' | grep -q "$1"
}

case $1 in
notice)
    if asked kindly; then
        echo "Dear readers, the library closes at six. Thank you, and good night." > "$out/notice.txt"
    else
        echo "CLOSED AT SIX. OUT." > "$out/notice.txt"
    fi
    ;;
index)
    set -- plans-examples/*/
    if asked order; then
        printf '%s\n' "$@" | sort > "$out/index.txt"
    else
        printf '%s\n' "$@" | sort -r > "$out/index.txt"
    fi
    ;;
esac
sleep 1
