#!/bin/sh
# Lists folders: those of the plans, or those at the top.
set -eu

case $1 in
plans) folder=plans-examples ;;
places) folder=. ;;
esac
mkdir -p plans-examples/critic/out
(cd "$folder" && for place in */; do echo "${place%/}"; done) > "plans-examples/critic/out/$1.txt"
