#!/bin/sh
# Whether the index has every error type, counted without the scout's help.
set -eu

index=plans-examples/scout/out/errors.md
there=$(grep -rhE '^pub enum [A-Za-z]*Error ' engine | wc -l)
indexed=$(grep -c '^- ' "$index")
echo "$((there)) error types in the source, $indexed in the index"
test "$there" -gt 0
test "$there" -eq "$indexed"
