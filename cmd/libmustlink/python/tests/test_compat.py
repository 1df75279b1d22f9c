"""The estimators with metric-learn's names: mathematics, and what differs. Its own tests run by make test-metric-learn."""

from __future__ import annotations

import inspect
import unittest
import warnings

import numpy as np

from mustlink._sklearn import HAVE_SKLEARN

from .data import blobs
from .test_pairs import Messages, pairs_of

if not HAVE_SKLEARN:
    raise unittest.SkipTest("no scikit-learn")

import mustlink.compat.metric_learn as metric_learn
from mustlink.compat.metric_learn import ITML, LSML, MMC, NCA, RCA, SCML, SDML, Constraints, Covariance, SCML_Supervised
from mustlink.compat.metric_learn._matrices import components_from_metric, start_matrix
from mustlink.compat.metric_learn.constraints import wrap_pairs

# The constructor parameters of metric-learn 0.7, without those that it deprecates.
PARAMETERS = {
    "Covariance": "preprocessor",
    "ITML": "gamma max_iter tol prior verbose preprocessor random_state",
    "ITML_Supervised": "gamma max_iter tol n_constraints prior verbose preprocessor random_state",
    "LFDA": "n_components k embedding_type preprocessor",
    "LMNN": "init n_neighbors min_iter max_iter learn_rate regularization convergence_tol verbose preprocessor n_components random_state",
    "LSML": "tol max_iter prior verbose preprocessor random_state",
    "LSML_Supervised": "tol max_iter prior n_constraints weights verbose preprocessor random_state",
    "MLKR": "n_components init tol max_iter verbose preprocessor random_state",
    "MMC": "max_iter max_proj tol init diagonal diagonal_c verbose preprocessor random_state",
    "MMC_Supervised": "max_iter max_proj tol n_constraints init diagonal diagonal_c verbose preprocessor random_state",
    "NCA": "init n_components max_iter tol verbose preprocessor random_state",
    "RCA": "n_components preprocessor",
    "RCA_Supervised": "n_components n_chunks chunk_size preprocessor random_state",
    "SCML": "beta basis n_basis gamma max_iter output_iter batch_size verbose preprocessor random_state",
    "SCML_Supervised": "k_genuine k_impostor beta basis n_basis gamma max_iter output_iter batch_size verbose preprocessor random_state",
    "SDML": "balance_param sparsity_param prior verbose preprocessor random_state",
    "SDML_Supervised": "balance_param sparsity_param prior n_constraints verbose preprocessor random_state",
}


class Names(unittest.TestCase):
    def test_parameters(self):
        self.assertEqual(set(metric_learn.__all__), {*PARAMETERS, "Constraints", "__version__"})
        for name, parameters in PARAMETERS.items():
            with self.subTest(name):
                self.assertEqual(list(inspect.signature(getattr(metric_learn, name)).parameters), parameters.split())


class Optima(unittest.TestCase):
    """Each fit solves the problem that metric-learn states, with any prior."""

    def setUp(self):
        X, y = blobs()
        self.X, self.y = X / 4, y
        self.pairs, self.signs = pairs_of(y)
        self.formed = self.X[self.pairs]
        random = np.random.RandomState(1)
        root = random.normal(size=(4, 4))
        self.prior = root.T @ root + 0.5 * np.eye(4)
        self.map = random.normal(size=(4, 4))

    def test_itml(self):
        """A linear map of points and prior maps the metric: the divergence does not depend on coordinates."""
        inverse = np.linalg.inv(self.map)
        bounds = (1.0, 9.0)
        M = ITML(prior=self.prior, tol=1e-10).fit(self.formed, self.signs, bounds=bounds).get_mahalanobis_matrix()
        moved = ITML(prior=_symmetric(inverse.T @ self.prior @ inverse), tol=1e-10).fit(self.formed @ self.map.T, self.signs, bounds=bounds).get_mahalanobis_matrix()
        np.testing.assert_allclose(self.map.T @ moved @ self.map, M, rtol=1e-5, atol=1e-6 * np.abs(M).max())
        self.assertFalse(np.allclose(M, ITML(tol=1e-10).fit(self.formed, self.signs, bounds=bounds).get_mahalanobis_matrix(), rtol=1e-2))

    def test_lsml(self):
        """The gradient of the stated objective is zero."""
        quadruplets = np.concatenate([self.formed[self.signs > 0][:20], self.formed[self.signs < 0][:20]], axis=1)
        quadruplets[3] = quadruplets[3][[0, 0, 2, 3]]  # always in order
        for prior in ("identity", "covariance", self.prior):
            with self.subTest(prior=str(prior)[:10]):
                learner = LSML(prior=prior, tol=1e-12).fit(quadruplets)
                M = learner.get_mahalanobis_matrix()
                start = np.linalg.inv(np.cov(np.unique(quadruplets.reshape(-1, 4), axis=0), rowvar=False)) if isinstance(prior, str) else prior
                start = np.eye(4) if isinstance(prior, str) and prior == "identity" else start
                gradient = np.linalg.inv(start) - np.linalg.inv(M)
                for a, b, c, d in quadruplets:
                    near, far = a - b, c - d
                    p, q = np.sqrt(near @ M @ near), np.sqrt(far @ M @ far)
                    if p > q:
                        gradient += (p - q) * (np.outer(near, near) / p - np.outer(far, far) / q) / len(quadruplets)
                np.testing.assert_allclose(gradient, 0, atol=1e-4)

    def test_lsml_keeps_the_prior(self):
        """In a direction in which points do not differ the metric is the prior."""
        flat = self.formed.copy()
        flat[..., 3] = 2.0
        quadruplets = np.concatenate([flat[self.signs > 0][:20], flat[self.signs < 0][:20]], axis=1)
        M = LSML().fit(quadruplets).get_mahalanobis_matrix()
        np.testing.assert_allclose(M[3], [0, 0, 0, 1], atol=1e-9)

    def test_sdml(self):
        """The conditions of the graphical lasso's optimum hold."""
        apart = self.formed[:, 0] - self.formed[:, 1]
        for prior in ("identity", "covariance", "random", self.prior):
            for sparsity in (0.0, 0.01, 0.1):
                with self.subTest(prior=str(prior)[:10], sparsity=sparsity):
                    learner = SDML(balance_param=1e-4, sparsity_param=sparsity, prior=prior, random_state=3).fit(self.formed, self.signs)
                    M = learner.get_mahalanobis_matrix()
                    _, inverse = start_matrix(self.formed, prior, 3)
                    P = inverse + 1e-4 * (apart.T * self.signs) @ apart
                    rest = P - np.linalg.inv(M)
                    off, size = ~np.eye(4, dtype=bool), np.abs(P).max()
                    np.testing.assert_allclose(np.diag(rest), 0, atol=1e-4 * size)
                    self.assertTrue((np.abs(rest[off]) <= sparsity + 1e-4 * size).all())
                    clear = off & (np.abs(M) > 1e-3 * np.abs(M).max())
                    np.testing.assert_allclose(rest[clear], -sparsity * np.sign(M[clear]), atol=1e-3 * size)

    def test_mmc(self):
        """No other matrix has a larger ratio, and the scale is a hundredth of that of init."""
        apart = self.formed[:, 0] - self.formed[:, 1]
        near, far = apart[self.signs > 0], apart[self.signs < 0]

        def ratio(M):
            return np.sqrt(np.einsum("ni,ij,nj->n", far, M, far)).sum() / np.sqrt(np.einsum("ni,ij,nj->", near, M, near))

        M = MMC(tol=1e-10, init=self.prior).fit(self.formed, self.signs).get_mahalanobis_matrix()
        self.assertAlmostEqual(np.einsum("ni,ij,nj->", near, M, near) / np.einsum("ni,ij,nj->", near, self.prior, near), 0.01, places=10)
        diagonal = MMC(tol=1e-10, diagonal=True, diagonal_c=3.0).fit(self.formed, self.signs).get_mahalanobis_matrix()
        np.testing.assert_allclose(diagonal, np.diag(np.diag(diagonal)), atol=1e-12)
        random = np.random.RandomState(0)
        w = np.diag(diagonal)

        def loss(w):
            return (near**2 @ w).sum() - 3 * np.log(np.sqrt(far**2 @ w).sum())

        for _ in range(100):
            step = random.normal(size=(4, 4)) * 0.1
            other = (np.eye(4) + step) @ M @ (np.eye(4) + step).T
            self.assertLessEqual(ratio(other), ratio(M) * (1 + 1e-7))
            self.assertGreaterEqual(loss(np.maximum(w + 0.02 * w.max() * random.normal(size=4), 0)), loss(w) - 1e-7)

    def test_rca(self):
        """Within chunks the covariance becomes the identity, or that of the leading directions."""
        chunks = np.where(np.arange(60) < 45, self.y, -1)
        for size in (None, 2):
            Z = RCA(n_components=size).fit(self.X, chunks).transform(self.X)[:45]
            centered = np.concatenate([Z[chunks[:45] == c] - Z[chunks[:45] == c].mean(axis=0) for c in range(3)])
            np.testing.assert_allclose(centered.T @ centered / 45, np.eye(Z.shape[1]), atol=1e-8)

    def test_covariance(self):
        np.testing.assert_allclose(Covariance().fit(self.X).get_mahalanobis_matrix(), np.linalg.inv(np.cov(self.X, rowvar=False)), rtol=1e-9)

    def test_contradictions(self):
        """Pairs at the same places with both signs are no error, and equal points are ignored."""
        formed = np.concatenate([self.formed, self.formed[:3], self.X[np.array([[0, 0], [1, 1]])]])
        signs = np.concatenate([self.signs, -self.signs[:3], [1, -1]])
        for kind in (ITML, MMC, SDML):
            options = {"balance_param": 1e-4} if kind is SDML else {}
            self.assertTrue(np.isfinite(kind(**options).fit(formed, signs).components_).all())

    def test_roots(self):
        for M in (self.prior, np.diag([1.0, 0, 3]), np.ones((3, 3))):
            L = components_from_metric(M)
            np.testing.assert_allclose(L.T @ L, M, atol=1e-12)


class Drawing(unittest.TestCase):
    def test_pairs(self):
        """Pairs are different ones, and all if there are no more."""
        labels = np.array([0, 0, 1, -1, 1, 1, 2, 0])
        known = [(i, j) for j in range(8) for i in range(j) if labels[i] >= 0 and labels[j] >= 0]
        same = {p for p in known if labels[p[0]] == labels[p[1]]}
        for count in (1, 3, 5, 100):
            for seed in range(20):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    a, b, c, d = Constraints(labels).positive_negative_pairs(count, random_state=seed)
                near, far = {tuple(sorted(p)) for p in zip(a, b)}, {tuple(sorted(p)) for p in zip(c, d)}
                self.assertEqual((len(near), len(far)), (len(a), len(c)))
                self.assertTrue(near <= same and far <= set(known) - same)
                self.assertEqual((len(near), len(far)), (min(count, len(same)), min(count, len(known) - len(same))))
        with self.assertWarnsRegex(UserWarning, r"Only generated 6 positive constraints \(requested 100\)"):
            Constraints(labels).positive_negative_pairs(100)

    def test_many(self):
        """Ranks of pairs are decoded exactly in a large class."""
        a, b, _, _ = Constraints(np.zeros(3000, dtype=int)).positive_negative_pairs(0)
        self.assertEqual(len(a), 0)
        a, b, c, d = Constraints(np.arange(4000) % 2).positive_negative_pairs(50000, same_length=True, random_state=0)
        self.assertTrue((a % 2 == b % 2).all() and (a != b).all() and (c % 2 != d % 2).all())
        self.assertEqual(len(np.unique(np.sort(np.column_stack([a, b]), axis=1), axis=0)), 50000)
        self.assertLess(abs(np.mean([a, b]) - 2000), 60)

    def test_wrap(self):
        X = np.arange(8.0).reshape(4, 2)
        pairs, signs = wrap_pairs(X, ([0], [1], [2, 3], [0, 1]))
        self.assertEqual((pairs.tolist(), signs.tolist()), ([[[0, 1], [2, 3]], [[4, 5], [0, 1]], [[6, 7], [2, 3]]], [1, -1, -1]))


class Differences(Messages):
    """What mustlink does not do says so."""

    def setUp(self):
        self.X, self.y = blobs()

    def test_not_implemented(self):
        X, y = self.X, self.y
        quadruplets = X[np.arange(40).reshape(10, 4)]
        self.says(
            NotImplementedError, "weights differ: mustlink's LSML takes quadruplets of one weight only", lambda: LSML().fit(quadruplets, weights=np.arange(10) + 1.0)
        )
        np.testing.assert_array_equal(LSML().fit(quadruplets, weights=np.full(10, 3.0)).components_, LSML().fit(quadruplets).components_)
        message = "basis is an array: mustlink's SCML chooses its bases itself, want 'lda' or 'triplet_diffs'"
        self.says(NotImplementedError, message, lambda: SCML_Supervised(basis=np.eye(4), n_basis=4).fit(X, y))
        self.says(NotImplementedError, message, lambda: SCML(basis=np.eye(4), n_basis=4).fit(X[np.arange(30).reshape(10, 3)]))

    def test_init(self):
        """An init that is not used says so, and is the result where there is nothing to learn."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            NCA(init="random").fit(self.X, self.y)
        self.assertIn("NCA: init is not used: the fit starts from principal directions", [str(w.message) for w in caught])
        start = np.random.RandomState(0).normal(size=(3, 4))
        np.testing.assert_array_equal(NCA(init=start, n_components=3).fit(self.X, np.zeros(60)).components_, start)

    def test_bad_input(self):
        """Values that overflow, a balance that is no number and chunks of no rows are refused with their place."""
        X, y = self.X.copy(), self.y
        X[7, 2] = -1e200
        message = "row 7, column 2: value is -1e+200: want at most 1e+75 in absolute value, since fourth powers overflow"
        supervised = [name for name in PARAMETERS if name.endswith("_Supervised")]
        for name in [*supervised, "Covariance", "LFDA", "LMNN", "MLKR", "NCA"]:
            with self.subTest(name):
                target = y.astype(float) if name == "MLKR" else y
                self.says(ValueError, message, lambda: getattr(metric_learn, name)().fit(X, target))
        pairs = np.array([[0, 1], [7, 8], [20, 40]])
        place = message.replace("row 7", "tuple 1, point 0")
        self.says(ValueError, place, lambda: ITML().fit(X[pairs], [1, 1, -1]))
        self.says(ValueError, "balance_param is nan: want a finite number", lambda: SDML(balance_param=np.nan).fit(self.X[pairs], [1, 1, -1]))
        self.says(ValueError, "chunk_size is 0: want at least 1", lambda: metric_learn.RCA_Supervised(chunk_size=0).fit(self.X, y))

    def test_pairs_are_no_transformer(self):
        from sklearn.base import TransformerMixin, is_classifier

        self.assertFalse(issubclass(ITML, TransformerMixin))
        self.assertTrue(is_classifier(ITML()))
        self.assertTrue(issubclass(metric_learn.ITML_Supervised, TransformerMixin))


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return (matrix + matrix.T) / 2


if __name__ == "__main__":
    unittest.main()
