#!/bin/sh
# The worker of this plan: reporter.sh TASK, with its brief on standard input.
#
# It stands in for a coding agent: it does not understand its brief, but it does one thing that an agent does.
# When a round has failed, it reads in the brief of the next one what was missing, and adds it.
set -eu

task=$1
brief=$(cat)
out=plans-examples/quickstart/out/$task.md
mkdir -p plans-examples/quickstart/out

# The first sentence of a Rust file's header.
headline() {
    awk '
        !/^\/\/! ?[^ ]/ { exit }
        { sub(/^\/\/! */, ""); text = text (NR > 1 ? " " : "") $0 }
        END { sub(/[.] .*$/, ".", text); print text }
    ' "$1"
}

room_line() {
    printf -- '- `%s`: %s\n' "$1" "$(headline "engine/$1/mod.rs")"
}

# What the check of the last round missed, as the brief tells it.
missing=$(printf '%s\n' "$brief" | sed -n 's|^missing: ||p')
if [ -n "$missing" ]; then
    for room in $missing; do
        echo "the brief says that $room is missing: adding it"
        sleep 1
        room_line "$room" >> "$out"
    done
    exit 0
fi

echo "reading the repository"
sleep 1
{
    case $task in
    sizes)
        echo "# How large each room is"
        echo
        for room in engine/*/; do
            lines=$(find "$room" -name '*.rs' -exec cat {} + | wc -l | tr -d ' ')
            printf -- '- `%s`: %s lines\n' "$(basename "$room")" "$lines"
        done
        ;;
    rooms)
        echo "# What each room is for"
        echo
        # A mistake such as workers make: the last rooms are left out.
        for room in engine/[a-v]*/; do
            room_line "$(basename "$room")"
        done
        ;;
    verbs)
        echo "# What the program can do"
        echo
        for file in $(grep -l '^//! `sop ' engine/cli/*.rs); do
            printf -- '- %s\n' "$(headline "$file")"
        done
        ;;
    longest)
        echo "# The ten longest files"
        echo
        find engine -name '*.rs' -exec wc -l {} + | grep -v ' total$' | sort -rn | head -n 10 |
            while read -r lines file; do
                printf -- '- `%s`: %s lines\n' "$file" "$lines"
            done
        ;;
    esac
} > "$out"
echo "wrote $out"
sleep 1
