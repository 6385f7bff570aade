#!/bin/sh
# The scout of this plan. It changes nothing and writes its report where SOP_REPORT says.
set -eu

grep -rnE '^pub enum [A-Za-z]*Error ' engine |
    sed 's|^\([^:]*:[0-9]*\):pub enum \([A-Za-z]*\).*$|\1 \2|' |
    sort > "$SOP_REPORT"
echo "found $(wc -l < "$SOP_REPORT" | tr -d ' ') error types"
sleep 1
