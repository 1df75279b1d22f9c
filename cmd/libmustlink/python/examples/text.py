"""Messages by their words: a column of texts in a frame, and links between messages. text.py [PATH]"""

import sys

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from mustlink import KPCA, RCA, Links, plot

random = np.random.RandomState(0)
subjects = {
    "delivery": "parcel courier late door address tracking box driver street signature",
    "payment": "invoice card refund charge bank euro amount receipt account paid",
    "login": "password reset email code screen browser link locked page user",
}
fillers = "please hello thanks again today still very my the and not help you soon with yesterday morning question".split()


def message(subject: str) -> str:
    """Return three words of a subject among nine that any message may have."""
    words = [*random.choice(subjects[subject].split(), 3), *random.choice(fillers, 9)]
    return " ".join(random.permutation(words))


y = random.choice(list(subjects), 400)
frame = pd.DataFrame({"message": [message(subject) for subject in y]})
links = Links.from_labels(y[:300], must=250, cannot=250, seed=1)

prepare = {"kinds": {"message": "text"}, "text": "words"}
raw = KPCA(prepare=prepare, n_components=20).fit(frame).transform(frame)
metric = RCA(prepare=prepare, n_components=2).fit(frame, links=Links(links.pairs[:250], links.signs[:250]))

for column in metric.preparation_:
    print(f"{column['name']}: {column['does']}")
print(f"new messages: AUC {metric.score(frame[300:], y[300:]):.3f}")

figure = Figure(figsize=(10, 4.5), layout="constrained")
left, right = figure.subplots(1, 2)
plot.embedding(raw, y, ax=left, title="messages by their words")
plot.embedding(metric.transform(frame)[300:], y[300:], ax=right, title="new messages in the learned metric")
figure.savefig((sys.argv[1:] or ["text.png"])[0], dpi=110)
