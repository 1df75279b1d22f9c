"""Does the work of bench/peers in NumPy, SciPy and scikit-learn, for the Go side to time.

Reads one JSON object a line from standard input and answers each with one line:
  {"prepare": case, "n": n, "d": d}  ->  {"check": sum over the result}
  {"learn": method, "folder": data}  ->  {}: the method of metric-learn that the next calls fit
  {"places": file}                   ->  {}: the file has the coordinates of the points in the metric learned last
  {"calls": k}                       ->  {"seconds": time of k calls of the case prepared last}
  {"about": true}                    ->  {"about": versions, BLAS libraries in use; "cores": of OpenBLAS}
An error is answered with {"error": text}.
"""

import ctypes
import json
import os
import sys
import time

import numpy
import scipy
import scipy.linalg

MASK = (1 << 64) - 1


def uniform(stream, count, first=0):
    """count numbers in [0, 1): SplitMix64 of stream * 2^40 + index, as the Go side has them."""
    with numpy.errstate(over="ignore"):
        z = numpy.arange(first, first + count, dtype=numpy.uint64) + numpy.uint64(stream << 40)
        z = (z + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z = z ^ (z >> numpy.uint64(31))
    return (z >> numpy.uint64(11)).astype(numpy.float64) / float(1 << 53)


def matrix(stream, n, d):
    out = numpy.empty(n * d)
    for lo in range(0, n * d, 1 << 20):  # in parts, for the memory of the arithmetic
        hi = min(lo + (1 << 20), n * d)
        out[lo:hi] = uniform(stream, hi - lo, lo) - 0.5
    return out.reshape(n, d)


def dominant(n):
    a = matrix(1, n, n)
    a = (a + a.T) / 2
    a[numpy.diag_indices(n)] = n
    return a


def gemm(n, d):
    a, b, c = matrix(1, n, d), matrix(2, d, n), numpy.empty((n, n))
    return None, lambda _: numpy.dot(a, b, out=c)


def syrk(n, d):
    a = matrix(1, n, d)
    # numpy.dot of a matrix with its own transpose calls syrk and fills both triangles.
    return None, lambda _: numpy.tril(numpy.dot(a, a.T)) if CHECKING else numpy.dot(a, a.T)


def cholesky(n, d):
    a = dominant(n)
    return a.copy, lambda x: scipy.linalg.cholesky(x, lower=True, overwrite_a=True, check_finite=False)


def trsm(n, d):
    low, b = numpy.tril(matrix(1, n, n)), matrix(2, n, d)
    low[numpy.diag_indices(n)] = n
    return b.copy, lambda x: scipy.linalg.solve_triangular(low, x, lower=True, overwrite_b=True, check_finite=False)


def exp(n, d):
    x, out = -20 * uniform(1, n), numpy.empty(n)
    return None, lambda _: numpy.exp(x, out=out)


def rbf(n, d):
    from sklearn.metrics.pairwise import rbf_kernel

    x, gamma = matrix(1, n, d), 1.0 / d
    return None, lambda _: rbf_kernel(x, gamma=gamma)


def nystroem(n, d):
    from sklearn.kernel_approximation import Nystroem

    x, m, gamma = matrix(1, n, d), min(n, LANDMARKS), 1.0 / d
    model = Nystroem(gamma=gamma, n_components=m)
    model.fit(x[:m])
    # The map for the first points as landmarks, in their order, as Nystroem.fit makes it.
    from sklearn.metrics.pairwise import rbf_kernel

    u, s, v = scipy.linalg.svd(rbf_kernel(x[:m], gamma=gamma))
    model.components_, model.component_indices_ = x[:m], numpy.arange(m)
    model.normalization_ = numpy.dot(u / numpy.sqrt(numpy.maximum(s, 1e-12)), v)
    return None, lambda _: model.transform(x)


def neighbors_of(x):
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=10, algorithm="brute").fit(x)
    return None, lambda _: model.kneighbors()[0]


def knn(n, d):
    return neighbors_of(matrix(1, n, d))


def knn_adult(n, d):
    from sklearn.datasets import load_svmlight_file

    x, _ = load_svmlight_file(os.path.join(os.environ["MUSTLINK_DATA"], "adult.svm.gz"))
    return neighbors_of(x[:n])


def gram_text(n, d):
    from sklearn.datasets import load_svmlight_file
    from sklearn.metrics.pairwise import cosine_similarity

    x, _ = load_svmlight_file(os.path.join(os.environ["MUSTLINK_DATA"], "text-baseball-hockey.svm.gz"))
    x = x[:n]

    def run(_):
        gram = cosine_similarity(x)
        gram -= 1
        return numpy.exp(gram, out=gram)

    return None, run


def lle(n, d):
    from sklearn.manifold._locally_linear import barycenter_weights
    from sklearn.neighbors import NearestNeighbors

    x = matrix(1, n, d)
    near = NearestNeighbors(n_neighbors=10, algorithm="brute").fit(x).kneighbors(return_distance=False)
    # The weights add up to 1 in each row: what is compared is the sum of their squares.
    return None, lambda _: barycenter_weights(x, x, near, reg=1e-3) ** (2 if CHECKING else 1)


def fastest(calls):
    """The one of the calls that takes the least time."""
    best = None
    for call in calls:
        call()
        start = time.perf_counter()
        call()
        took = time.perf_counter() - start
        if best is None or took < best[0]:
            best = (took, call)
    return best[1]


def eigentop(n, d):
    from scipy.sparse.linalg import eigsh
    from sklearn.metrics.pairwise import rbf_kernel

    k, gram = min(20, n - 1), rbf_kernel(matrix(1, n, d), gamma=1.0 / d)
    # A tolerance of 1e-6 of each eigenvalue leaves residuals below 1e-10 of the largest one.
    call = fastest([
        lambda: eigsh(gram, k, which="LA", tol=1e-6),
        lambda: scipy.linalg.eigh(gram, subset_by_index=[n - k, n - 1], check_finite=False),
    ])
    return None, lambda _: call()[0]


def laplacian(n, d):
    from scipy.sparse import csgraph, identity
    from scipy.sparse.linalg import eigsh
    from sklearn.neighbors import kneighbors_graph

    k = min(20, n - 2)
    graph = kneighbors_graph(matrix(1, n, d), min(10, n - 1))
    graph = ((graph + graph.T) > 0).astype(float)
    l = csgraph.laplacian(graph, normed=True).tocsr()
    turned = 2 * identity(n, format="csr") - l
    calls = [
        lambda: 2 - eigsh(l, k, which="SA", tol=1e-6)[0],
        lambda: eigsh(turned, k, which="LA", tol=1e-6)[0],
    ]
    if d <= 3:  # in more dimensions the factors fill up, which takes seconds
        calls.append(lambda: 2 - eigsh(l, k, sigma=-1e-3, tol=1e-4)[0])
    call = fastest(calls)
    return None, lambda _: call()


def itml(n, d):
    """Information-theoretic metric learning as the usual Python package has it: a loop over the pairs."""
    x = matrix(1, n, d)
    u = uniform(3, 2 * PAIRS)
    i = (u[::2] * n).astype(int)
    j = (u[1::2] * (n - 1)).astype(int)
    j += j >= i
    differences = x[i] - x[j]
    # in the order of the other side: must-links first, then by distance
    differences = differences[numpy.lexsort(((differences**2).sum(1), numpy.arange(PAIRS) >= PAIRS // 2))]
    gamma = 1.0

    def run(_):
        a = numpy.eye(d)
        multipliers = numpy.zeros(PAIRS)
        bounds = numpy.where(numpy.arange(PAIRS) < PAIRS // 2, 0.08 * d, 0.25 * d)
        for _ in range(SWEEPS):
            for k, v in enumerate(differences):
                sign = 1 if k < PAIRS // 2 else -1
                p = v.dot(a).dot(v)
                alpha = min(multipliers[k], sign * gamma / (gamma + 1) * (1 / p - 1 / bounds[k]))
                multipliers[k] -= alpha
                bounds[k] = 1 / (1 / bounds[k] + sign * alpha / gamma)
                image = a.dot(v)
                a += numpy.outer(image, image * (sign * alpha / (1 - sign * alpha * p)))
        return a

    return None, run


class Lesson:
    """A method of metric-learn, or of active-semi-supervised-clustering, each with its defaults, on the data that the other
    side has left in a folder."""

    def __init__(self, name, folder):
        import warnings

        warnings.filterwarnings("ignore")
        if name == "mpck":
            from active_semi_clustering.semi_supervised.pairwise_constraints import MPCKMeans
        else:
            import metric_learn

            numpy.seterr(all="warn")  # the other module has every underflow raised, for all that is in the process

        read = lambda part: numpy.load(os.path.join(folder, part + ".npy"))
        self.x = numpy.ascontiguousarray(read("x"))
        labels, chunklets = read("labels").ravel().astype(int), read("chunklets").ravel().astype(int)
        pairs = read("pairs")
        tuples = numpy.ascontiguousarray(self.x[pairs[:, :2].astype(int)])
        signs = pairs[:, 2].astype(int)
        make = {
            "rca": lambda: metric_learn.RCA().fit(self.x, chunklets),
            "mmc": lambda: metric_learn.MMC().fit(tuples, signs),
            "mmc_diagonal": lambda: metric_learn.MMC(diagonal=True).fit(tuples, signs),
            "lmnn": lambda: metric_learn.LMNN(n_neighbors=3).fit(self.x, labels),
            "nca": lambda: metric_learn.NCA().fit(self.x, labels),
            "mpck": lambda: MPCKMeans(n_clusters=len(set(labels))).fit(
                self.x,
                ml=[(int(i), int(j)) for i, j, sign in pairs if sign > 0],
                cl=[(int(i), int(j)) for i, j, sign in pairs if sign < 0],
            ),
        }[name]
        self.fit, self.model = make, None

    def run(self, _):
        self.model = self.fit()

    def places(self, path):
        if hasattr(self.model, "components_"):
            numpy.save(path, self.x.dot(self.model.components_.T))
        else:
            numpy.save(path, self.model.labels_.astype(float).reshape(-1, 1))


PAIRS, SWEEPS = 1000, 10
LANDMARKS = 500
CASES = {f.__name__: f for f in (gemm, syrk, cholesky, trsm, exp, rbf, nystroem, knn, knn_adult, gram_text, lle, itml, eigentop, laplacian)}
CASES["rbf_reused"] = rbf
CHECKING = False


def core(path):
    """The core whose kernels an OpenBLAS runs, None for other libraries."""
    library = ctypes.CDLL(path)
    for name in ("openblas_get_corename", "scipy_openblas_get_corename"):
        for ending in ("", "64_"):
            try:
                function = getattr(library, name + ending)
            except AttributeError:
                continue
            function.restype = ctypes.c_char_p
            return function().decode()
    return None


def libraries():
    """The BLAS libraries that this process has loaded, with their cores."""
    found = set()
    try:
        with open("/proc/self/maps") as maps:
            for line in maps:
                path = line.split()[-1]
                name = path.rsplit("/", 1)[-1]
                if name.startswith("lib") and ("blas" in name or "mkl" in name):
                    found.add(path)
    except OSError:
        pass
    return {path: core(path) for path in sorted(found)}


def about():
    text = "Python %s, NumPy %s, SciPy %s" % (sys.version.split()[0], numpy.__version__, scipy.__version__)
    try:
        import sklearn

        text += ", scikit-learn " + sklearn.__version__
    except ImportError:
        text += ", no scikit-learn"
    try:
        import metric_learn

        text += ", metric-learn " + metric_learn.__version__
    except ImportError:
        pass
    blas = libraries()
    names = [path + (" (core %s)" % core if core else "") for path, core in blas.items()]
    return {"about": text + "; BLAS " + (", ".join(names) or "unknown"), "cores": [c for c in blas.values() if c]}


def main():
    global CHECKING
    prepare = run = lesson = None
    for line in sys.stdin:
        try:
            request = json.loads(line)
            if "about" in request:
                answer = about()
            elif "learn" in request:
                prepare, lesson = None, Lesson(request["learn"], request["folder"])
                run, answer = lesson.run, {}
            elif "places" in request:
                lesson.places(request["places"])
                answer = {}
            elif "prepare" in request:
                prepare = run = None  # frees what the case before held
                prepare, run = CASES[request["prepare"]](request["n"], request["d"])
                CHECKING = True
                answer = {"check": float(numpy.sum(run(prepare() if prepare else None)))}
                CHECKING = False
            else:
                total = 0.0
                for _ in range(request["calls"]):
                    argument = prepare() if prepare else None
                    start = time.perf_counter()
                    run(argument)
                    total += time.perf_counter() - start
                answer = {"seconds": total}
        except Exception as e:  # the other side stops with it
            answer = {"error": "%s: %s" % (type(e).__name__, e)}
        print(json.dumps(answer), flush=True)


main()
