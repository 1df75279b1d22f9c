#!/bin/sh
# Measures what many cores bring, in at most six minutes: fits a second by goroutines, one large fit
# by workers beside what the forks of one processor predict, and single operations of linear
# algebra, beside NumPy where there is one. `make bench-cores` puts this script into a folder with
# the program that it runs; copy the folder to a Linux server that does nothing else, and start it
# there:
#
#	./run > table.txt
set -eu
cd "$(dirname "$0")"
cores=$(nproc)

# numbers prints 1,2,4,… up to the number of cores.
numbers() {
	list=1 n=2
	while [ "$n" -le "$cores" ]; do
		list=$list,$n n=$((2 * n))
	done
	echo "$list"
}
until=$(($(date +%s) + 330))

# measure TITLE COMMAND... runs a command, unless there is too little time for another one.
measure() {
	printf '\n== %s\n' "$1"
	shift
	left=$((until - $(date +%s)))
	if [ "$left" -lt 10 ]; then
		echo "left out: no time"
	else
		timeout "$left" "$@" || echo "not finished ($?)"
	fi
}

echo "$(uname -sm), $cores cores, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(date -u +%F)"
measure "fits a second, by goroutines" \
	./mustlink-bench throughput --case krca --goroutines "$(numbers)" --rounds 3
for method in krca gml kbeta npkl itml lleratio; do
	measure "$method, by workers" ./mustlink-bench workers -q --methods "$method" --rounds 1 \
		--numbers "$(numbers)" --predict "1,$cores" --stages
done
measure "products and factorizations" ./mustlink-bench micro -q --case peak,gemm,syrk,trsm,cholesky,eig \
	--sizes 2048,4096 --threads "1,$cores" --rounds 3
if python3 -c 'import numpy' 2>/dev/null; then
	measure "NumPy, 4096 x 4096" python3 -c '
import time, numpy
a = numpy.random.default_rng(1).standard_normal((4096, 4096))
s = a @ a.T + 4096 * numpy.eye(4096)
for name, f in (("product", lambda: a @ a), ("cholesky", lambda: numpy.linalg.cholesky(s)),
                ("eigh, order 2000", lambda: numpy.linalg.eigh(s[:2000, :2000]))):
    times = []
    for _ in range(3):
        began = time.perf_counter()
        f()
        times.append(time.perf_counter() - began)
    print(f"{name}: {sorted(times)[1]:.3f} s")'
fi
