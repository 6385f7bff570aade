#!/bin/sh
# check.sh TABLE: whether the table is right, from a sum over it that was worked out by hand.
set -eu

case $1 in
numbers) right=55 ;;
squares) right=385 ;;
cubes) right=3025 ;;
sums) right=3410 ;;
esac
sum=$(awk '{ sum += $1 } END { print sum }' "plans-examples/needs/out/$1")
echo "the numbers in $1 add up to $sum; they should to $right"
test "$sum" -eq "$right"
