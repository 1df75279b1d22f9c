# %% [markdown]
# # Duplicates with a known precision
#
# Two records of each customer, with errors. A metric learns from 150 customers that are known, and a
# person answers questions about the others.

# %%
import numpy as np

from mustlink import RCA, Links

random = np.random.RandomState(1)
noise = np.array([0.1] * 6 + [1.5] * 6)  # half of the columns are written carelessly
person = np.repeat(np.arange(600), 2)
X = random.normal(size=(600, 12))[person] + noise * random.normal(size=(1200, 12))
known, others = X[:300], X[300:]
metric = RCA().fit(known, links=Links.from_groups(person[:300]))

# %% [markdown]
# Few of all pairs match, so pairs drawn at random say little. Questions about near ones say which of
# the pairs that look alike are duplicates.

# %%
asked = metric.suggest(others, near=12.0, count=300, seed=1)
same = person[300:][asked[:, 0]] == person[300:][asked[:, 1]]  # a person's answers
metric.calibrate(others, links=Links(asked, same), near=True)
for threshold in metric.calibration_["thresholds_of_precision"]:
    print({name: threshold[name] for name in ("distance", "precision", "recall")})

# %%
found = metric.pairs(others, precision=0.8)
right = person[300:][found.rows[:, 0]] == person[300:][found.rows[:, 1]]
print(f"{len(found.rows)} pairs up to {found.threshold:.2f}: {right.mean():.3f} are duplicates, {right.sum() / 450:.3f} of all")
assert right.mean() >= 0.8

# %% [markdown]
# Each pair has a probability. The least sure ones are those to look at.

# %%
for rows, probability in list(zip(found.rows.tolist(), found.probabilities))[-3:]:
    print(rows, round(probability, 2))
