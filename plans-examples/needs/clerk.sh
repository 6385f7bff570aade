#!/bin/sh
# The worker of this plan: clerk.sh TASK TIER makes one table from those that are there.
set -eu

task=$1
tier=$2
cd plans-examples/needs
mkdir -p out
case $task in
numbers) awk 'BEGIN { for (n = 1; n <= 10; n++) print n }' > out/numbers ;;
squares) awk '{ print $1 * $1 }' out/numbers > out/squares ;;
cubes)
    if [ "$tier" = light ]; then
        echo "cubes, squares, much the same"
        awk '{ print $1 * $1 }' out/numbers > out/cubes
    else
        awk '{ print $1 * $1 * $1 }' out/numbers > out/cubes
    fi
    ;;
sums) paste out/squares out/cubes | awk '{ print $1 + $2 }' > out/sums ;;
esac
sleep 1
