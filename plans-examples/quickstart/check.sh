#!/bin/sh
# The Definition of Done of this plan: check.sh TASK exits 0 if the report is right, and says what is wrong
# with it if it is not.
set -eu

task=$1
report=plans-examples/quickstart/out/$task.md
if [ ! -s "$report" ]; then
    echo "there is no $report"
    exit 1
fi

entries() {
    grep -c '^- ' "$report"
}

status=0
case $task in
sizes | rooms)
    # Both speak of every room, and no room twice.
    for room in engine/*/; do
        room=$(basename "$room")
        if [ "$(grep -c "^- \`$room\`: ." "$report")" -ne 1 ]; then
            echo "missing: $room"
            status=1
        fi
    done
    ;;
verbs)
    if [ "$(entries)" -lt 5 ]; then
        echo "fewer than five verbs"
        status=1
    fi
    ;;
longest)
    if [ "$(entries)" -ne 10 ]; then
        echo "not ten files, but $(entries)"
        status=1
    fi
    ;;
*)
    echo "no check for $task"
    status=1
    ;;
esac
exit $status
