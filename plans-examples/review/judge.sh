#!/bin/sh
# A reviewer: looks at the work, prints a verdict and ends with 0. Exit codes are not verdicts.
set -eu

index=plans-examples/review/out/index.txt
if sort -c "$index" 2>/dev/null; then
    echo '{ "verdict": "approve", "summary": "In order." }'
else
    cat <<END
{
  "verdict": "request_changes",
  "summary": "Right, but hard to find anything in.",
  "findings": [
    { "file": "$index", "line": 1, "severity": "major", "message": "The names are not in order." }
  ]
}
END
fi
