// Package suspicion (engine room: may change) says which of the given links are probably wrong.
//
// A model tells little of the links that it was fitted on: many methods meet them all, the wrong ones too. So the links are
// divided into folds, and every link is measured by models that were fitted without it. Several methods do that, the judges,
// as each sees other things: directions that matter, the shape of the points, what follows from other links. Three are metrics; three
// more are npkl on the neighbours by each of these, which are more often of a kind than those by the points as they are.
// How far apart must-links and cannot-links then are, by the measure of every judge, decides how much each judge is
// believed: a logistic regression of the signs on the logarithms of the distances, that allows for wrong signs and estimates
// how many there are. As wrong links lead the judges astray, all is done again without the most suspicious ones, twice. The suspicion of a link is the logarithm of the odds that its sign is wrong.
//
// [Result.Without] leaves out the most suspicious links, [Result.Reweighted] gives them less weight, for methods that
// weigh links.
package suspicion
