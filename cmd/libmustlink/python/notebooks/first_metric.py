# %% [markdown]
# # A first metric
#
# Three kinds of rows differ in three columns, and nine louder columns say nothing. People have said
# of a few pairs whether the rows belong together.

# %%
import numpy as np

from mustlink import AutoMetric, Links, plot

random = np.random.RandomState(0)
kind = np.arange(300) % 3
X = 3 * random.normal(size=(300, 12))
X[:, :3] = 0.6 * random.normal(size=(300, 3)) + 2 * np.eye(3)[kind]
links = Links.from_labels(kind[:200], must=150, cannot=150, seed=1)
links

# %% [markdown]
# The links choose the method. Fits that do not see a part of the linked rows say whether the metric
# is better than the distance of the rows as they are.

# %%
metric = AutoMetric().fit(X[:200], links=links)
print(metric)
print(metric.verdict_["text"])
for line in metric.verdict_["details"]:
    print("-", line)

# %%
assert metric.verdict_["finding"] == "better"
plot.verdict(metric)

# %% [markdown]
# The metric holds for rows that no fit has seen. Here their nearest rows with a label classify them.

# %%
from sklearn.neighbors import KNeighborsClassifier

names = np.array(["red", "green", "blue"])[kind]
learned = np.mean(metric.classify(X[:200], names[:200], X[200:]) == names[200:])
plain = KNeighborsClassifier(4).fit(X[:200], names[:200]).score(X[200:], names[200:])
print(f"right: {learned:.2f} by the metric, {plain:.2f} by Euclidean distance")
assert learned > plain

# %%
plot.embedding(metric.transform(X[200:]), names[200:], title="new rows in the learned metric")

# %% [markdown]
# What to ask people next: pairs whose answers say most.

# %%
metric.suggest(X[:200], links, count=5)
