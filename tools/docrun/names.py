# The names that short Python blocks of pages take as given, for "run: after": points and labels of
# wine, every other row new, the same as frames, and pairs of labeled rows.
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

import mustlink

wine = load_wine(as_frame=True)
df, new = wine.data[::2], wine.data[1::2]
X, X_new = df.to_numpy(), new.to_numpy()
y, y_new = wine.target[::2].to_numpy(), wine.target[1::2].to_numpy()
left, right = np.triu_indices(len(y), 1)
chosen = np.random.default_rng(1).choice(len(left), 200, replace=False)
left, right = left[chosen], right[chosen]
pairs = pd.DataFrame({"left": df.index[left], "right": df.index[right], "same": y[left] == y[right]})
metric = mustlink.ITML().fit(X, y)
