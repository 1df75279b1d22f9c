#!/usr/bin/env bash
# Draws the pictures of docs/deduplicate.md and groups.md by the commands of these pages.
# Usage: pages.sh MUSTLINK DOCS
set -euo pipefail
mustlink=$(realpath "$1")
docs=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
ln -s "$mustlink" mustlink
for page in deduplicate groups; do
	sed -n '/^cat > .*awk/,/^awk -f/p; s/^\$ \(mustlink\|head\|sort\) /\1 /p; /-o '$page'.svg$/q' "$docs/$page.md" >commands
	PATH=$PWD:$PATH bash -e commands >/dev/null 2>&1
	cp "$page.svg" "$docs/pictures/"
done
