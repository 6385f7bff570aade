#!/bin/sh
# The Definition of Done of these plans: check.sh TASK exits 0 if the work is right, and says what is wrong if
# it is not.
set -eu

out=plans-examples/agents/out
status=0
wrong() {
    echo "$*"
    status=1
}

rooms() {
    for room in engine/*/; do
        room=$(basename "$room")
        [ "$(grep -cE "^- \`$room\`: .{20,200}\$" "$out/rooms.md")" -eq 1 ] ||
            wrong "$room: not one line of 20 to 200 characters"
    done
    lines=$(grep -c '^- ' "$out/rooms.md") || true
    there=$(for room in engine/*/; do echo "$room"; done | wc -l)
    [ "$lines" -eq "$there" ] || wrong "$lines lines for $there rooms"
    grep '^- ' "$out/rooms.md" | LC_ALL=C sort -c 2> /dev/null || wrong "not in alphabetical order"
}

roman() {
    while read -r number numeral; do
        said=$(sh "$out/roman.sh" "$number" 2> /dev/null) || true
        [ "$said" = "$numeral" ] || wrong "$number: '$said', not $numeral"
    done << EOF
1 I
3 III
4 IV
9 IX
14 XIV
40 XL
90 XC
400 CD
944 CMXLIV
1994 MCMXCIV
3999 MMMCMXCIX
EOF
    for bad in '' 0 4000 -3 1.5 x 007 '1 2' 99999999999999999999; do
        refused "$bad"
    done
    refused
    refused 1 2
}

# Whether the script refuses these arguments, as it should.
refused() {
    code=0
    said=$(sh "$out/roman.sh" "$@" 2> /dev/null) || code=$?
    [ "$code" -eq 2 ] && [ -z "$said" ] || wrong "arguments '$*': exit code $code, '$said'"
}

[ -s "$out/rooms.md" ] || [ "$1" != rooms ] || wrong "there is no $out/rooms.md"
[ -s "$out/roman.sh" ] || [ "$1" != roman ] || wrong "there is no $out/roman.sh"
[ "$status" -eq 0 ] || exit 1
case $1 in
rooms) rooms ;;
roman) roman ;;
*) wrong "no check for $1" ;;
esac
exit $status
