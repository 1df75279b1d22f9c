#!/usr/bin/env bash
# Draws the picture of README.md: new rows of two spirals, raw and under a learned metric.
# Usage: spirals.sh MUSTLINK FILE
set -euo pipefail
mustlink=$(realpath "$1")
out=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$mustlink" demo spiral --points 600 --repetitions 1 -o demo >/dev/null
cp demo/spiral-seen.csv mine.csv
head -111 demo/spiral-unseen.csv >new.csv # a small picture
"$mustlink" links make -q -i mine.csv --pairs 150 -o links.csv
"$mustlink" fit -q -i mine.csv -c links.csv -o model.mlk
"$mustlink" plot -q model.mlk --plane components -i new.csv --before --width 4.6 --height 3.2 --point-size 2.5 --no-legend -o "$out"
