#!/bin/sh
# check.sh UNIT METRES: whether the unit's script says so.
set -eu

said=$(sh "plans-examples/staged/out/units/$1.sh")
echo "says: $said"
test "$said" = "$(printf '%-5s %s' "$1" "$2")"
