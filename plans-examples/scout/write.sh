#!/bin/sh
# The writer of this plan. It has not looked at the source: all that it knows is in its brief, the scout's
# report included.
set -eu

out=plans-examples/scout/out/errors.md
mkdir -p "${out%/*}"
{
    echo "# Errors, by name"
    echo
    sed -n 's|^\(engine/[^:]*\):[0-9]* \([A-Za-z]*Error\)$|- `\2` in `\1`|p' "$SOP_BRIEF" | sort
} > "$out"
echo "indexed $(grep -c '^- ' "$out") error types"
sleep 1
