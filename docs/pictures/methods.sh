#!/usr/bin/env bash
# Draws the pictures of docs/methods: what a parameter does to points that no link is about.
# Usage: methods.sh MUSTLINK FOLDER
set -euo pipefail
mustlink=$(realpath "$1")
out=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$mustlink" demo spiral xor --points 400 --links 60 --repetitions 1 -o demo >/dev/null

# draw SET NAME TITLE FIT-ARGUMENTS...: 100 unseen points under the metric of a fit
draw() {
	local set=$1 name=$2 title=$3
	shift 3
	head -101 "demo/$set-unseen.csv" >points.csv
	"$mustlink" fit -q "$@" -i "demo/$set-seen.csv" -c "demo/$set-npkl-links.csv" -o model.mlk 2>/dev/null
	picture "$name" "$title" model.mlk -i points.csv
}

# picture NAME TITLE PLOT-ARGUMENTS...
picture() {
	local name=$1 title=$2
	shift 2
	"$mustlink" plot -q "$@" --plane components --title "$title" --width 3.2 --height 2.6 --no-legend --point-size 2 -o "$out/$name.svg"
}

head -101 demo/spiral-unseen.csv >points.csv
picture raw-spiral "raw" -i points.csv
head -101 demo/xor-unseen.csv >points.csv
picture raw-xor "raw" -i points.csv

draw spiral krca-narrow "rbf:sigma=0.1msq" -m krca -k rbf:sigma=0.1msq
draw spiral krca "rbf:sigma=0.3msq" -m krca -k rbf:sigma=0.3msq
draw spiral krca-wide "rbf:sigma=msq" -m krca -k rbf:sigma=msq

draw xor kbeta-low "rank=2" -m kbeta -p rank=2
draw xor kbeta "rank=root" -m kbeta
picture kbeta-spectrum "spectrum, rank=root" model.mlk --spectrum

draw spiral npkl "neighbors=5" -m npkl
draw spiral npkl-many "neighbors=20" -m npkl -p neighbors=20

draw spiral lleratio "alpha=0.02" -m lleratio -p alpha=0.02
draw spiral lleratio-stiff "alpha=2" -m lleratio -p alpha=2

draw spiral gml-soft "width=0.25, gamma=0.1" -m gml -p width=0.25 -p gamma=0.1
draw spiral gml "width=0.25, gamma=10" -m gml -p width=0.25 -p gamma=10
draw spiral gml-spectral "prior=spectral, rank=20" -m gml -p prior=spectral -p rank=20
