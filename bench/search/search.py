# Searches for nearest neighbors in other libraries: arguments are the folder with rows.npy,
# queries.npy and exact.npy, the number of threads, the recall to reach, and the names of the
# libraries. It prints a line of JSON for each search. A library that is missing is left out.
import json
import sys
import time

import numpy as np

folder, threads, wanted = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
rows, queries, exact = (np.load(f"{folder}/{name}.npy") for name in ("rows", "queries", "exact"))
exact, k = exact.astype(np.int64), exact.shape[1]


def recall(found):
    return float(np.mean([len(np.intersect1d(a, b)) for a, b in zip(exact, found)])) / k


def report(name, build, search, found, setting):
    print(json.dumps(dict(name=name, build_seconds=build, seconds=search, recall=recall(found), setting=setting)), flush=True)


def timed(work):
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def tuned(name, build, settings, search):
    """Reports the first setting that reaches the recall, or the last."""
    for setting, values in settings:
        seconds, found = timed(lambda: search(values))
        if recall(found) >= wanted or (setting, values) == settings[-1]:
            report(name, build, seconds, found, setting)
            return


def sklearn():
    from sklearn.neighbors import NearestNeighbors
    brute = NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=threads)
    build, _ = timed(lambda: brute.fit(rows))
    seconds, found = timed(lambda: brute.kneighbors(queries, return_distance=False))
    report("scikit-learn, brute", build, seconds, found, "")


def hnswlib():
    import hnswlib
    index = hnswlib.Index(space="l2", dim=rows.shape[1])
    index.init_index(max_elements=len(rows), M=16, ef_construction=100, random_seed=1)
    index.set_num_threads(threads)
    build, _ = timed(lambda: index.add_items(rows))

    def search(ef):
        index.set_ef(ef)
        return index.knn_query(queries, k=k)[0]
    tuned("hnswlib, M=16, ef_construction=100", build, [(f"ef={ef}", ef) for ef in (10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640)], search)


def faiss():
    import faiss
    faiss.omp_set_num_threads(threads)
    x, q = rows.astype(np.float32), queries.astype(np.float32)
    cells = int(2 * np.sqrt(len(x)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(x.shape[1]), x.shape[1], cells)

    def fill():
        index.train(x)
        index.add(x)
    build, _ = timed(fill)

    def search(probes):
        index.nprobe = probes
        return index.search(q, k)[1]
    tuned(f"FAISS IVF, {cells} cells", build, [(f"nprobe={p}", p) for p in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256)], search)


for name in sys.argv[4].split(","):
    try:
        dict(sklearn=sklearn, hnswlib=hnswlib, faiss=faiss)[name]()
    except ImportError as missing:
        print(f"left out: {missing}", file=sys.stderr)
