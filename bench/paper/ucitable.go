package paper

import (
	"fmt"
	"strings"
)

// tsang4 is the clustering experiment of Tsang, Cheung & Kwok on twelve data sets.
func tsang4() Table {
	return uciTable(uciSets(), tsang4Choice())
}

// tsang4Choice is the set-up for all data sets; Differences describes what else was tried.
func tsang4Choice() uciChoice {
	return uciChoice{sigma: "msq", eps: 1e-2, rcaEps: 1e-2, restarts: 10}
}

// uciTable is the table for some data sets.
func uciTable(sets []uciSet, choice uciChoice) Table {
	t := Table{
		Name:        "tsang-4",
		Paper:       "Tsang, Cheung & Kwok (2005). Kernel relevant component analysis for distance metric learning. International Joint Conference on Neural Networks (IJCNN).",
		Label:       "Table IV",
		Caption:     "clustering of real data with little and with much side information",
		Repetitions: 20,
		Decimals:    3,
		Steps:       len(sets) * len(uciLevels()),
		Setup:       uciSetup(choice),
		Differences: uciDifferences(),
		Prepare:     uciPrepare(sets, choice),
		Trial:       uciTrial(sets, choice),
		Notes:       uciNotes,
		Own:         "kernel RCA",
		Good:        Higher,
		Why:         "Linear RCA is ahead on image, letter, vehicle and usps: eps = 0.01 is too large for sets of many classes. With 0.001 kernel RCA is better than RCA on vehicle (0.840 for 0.830) and image (0.934 for 0.921), but falls on heart and pima-diabetes (on tsang-4). With 0.001 it is ahead of RCA on all four sets in the cross table, on both kinds of rows (results/cross.md).",
	}
	for _, set := range sets {
		t.Data = append(t.Data, set.file)
		for _, level := range uciLevels() {
			t.Columns = append(t.Columns, set.name+", "+level.name)
		}
	}
	for _, name := range uciNames() {
		t.Rows = append(t.Rows, Row{name, Unprinted(len(t.Columns))})
	}
	return t
}

func uciSetup(choice uciChoice) []string {
	var drawn []string
	for _, set := range uciSets() {
		if set.perClass > 0 {
			drawn = append(drawn, fmt.Sprintf("%s: %d rows of each class", set.name, set.perClass))
		}
	}
	return []string{
		"Data: the rows of the twelve files, some of them drawn once for all repetitions (" + strings.Join(drawn, "; ") + "); every feature is standardized to mean 0 and standard deviation 1 over the rows in use, constant features are set to 0.",
		"Side information, drawn again in every repetition: pairs of rows of the same class, uniformly and without replacement, until round(f n) connected components remain, with f = 0.9 (little) or 0.7 (much) for n rows. Components of at least two rows are the chunklets.",
		fmt.Sprintf("Gaussian kernel: exp(-|x-y|^2 / (2 sigma^2)), 2 sigma^2 = 0.8 times the mean squared distance between two rows of the set (bandwidth rule %q).", choice.sigma),
		fmt.Sprintf("Kernel RCA: that kernel, eps = %g times the mean of k(x, x), which is 1; all directions of the feature space.", choice.eps),
		fmt.Sprintf("RCA: whitening by (C + eps I)^-1/2 with C the covariance within chunklets and eps = %g times its mean eigenvalue, on all principal directions of the data with more than 1e-10 of the largest variance; no reduced dimension.", choice.rcaEps),
		fmt.Sprintf("Clustering: k-means under the must-links, as many clusters as classes; every connected component moves as one block to the center that minimizes its summed squared distance. The best objective of %d starts, each from the means of blocks drawn at random; the four systems and both levels of a repetition have the same generator of starts, so the systems of one level start from the same blocks. In feature spaces it runs exactly, on block averages of the Gram matrix.", choice.restarts),
		"Measure: balanced Rand index, half the share of pairs within a class that are in one cluster plus half the share of pairs between classes that are in two clusters, over all pairs of rows, including linked ones.",
	}
}

// uciDifferences describes what was tried; its values are those of the netlib build.
func uciDifferences() []string {
	return []string{
		"Only two printed values are available: .637 and .602 for letter. We do not know to which system and level they belong (our two metrics that are not learned range from 0.60 to 0.64 there). So the table has no printed values, and kernel RCA is compared only with our Gaussian kernel.",
		"The paper interchanges the words little and much; here fewer components (f = 0.7) mean much side information.",
		"usps has 256 features here; the paper used 88. german is the file of 20 features, with nominal ones coded by number. Which rows of letter and satellite the paper drew is not known.",
		"We chose the number of constraint sets and of starts, the bandwidth rule and eps, the same for all sets: the rule is the default of mustlink, and eps = 0.01 was fixed before the runs.",
		"Tried on all sets but usps, 10 constraint sets, seed 1: on how many of 11 sets kernel RCA is ahead of the Gaussian kernel with little / with much. Rule msq: eps = 0.1, 9/10; 0.03, 10/11; 0.01, 9/10; 0.001, 8/8. Mean distance: eps = 0.1, 10/11; 0.01, 9/11; 0.001, 8/8. Median distance: the same counts as mean. Twice the mean distance, eps = 0.01: 10/10; half of it: 10/11.",
		"Effect of eps: a smaller one gains more on sets with many classes and loses on sets with two that overlap. In those runs (rule msq, much) eps = 0.03, 0.01 and 0.001 put kernel RCA ahead of the Gaussian kernel by 0.055, 0.204 and 0.282 on vehicle and by 0.040, 0.061 and 0.100 on image, but by 0.004, -0.002 and -0.129 on heart and by 0.020, 0.034 and -0.053 on pima-diabetes. So 0.01 is not the value that is ahead on most sets.",
		"heart, where kernel RCA is behind: the cause is eps. Kernel RCA minus Gaussian kernel, 100 constraint sets, seed 1, mean ± standard error, little / much: eps = 0.3, +0.007 ± 0.002 / +0.002 ± 0.001; 0.1, +0.004 ± 0.003 / +0.004 ± 0.002; 0.03, +0.004 ± 0.004 / +0.004 ± 0.002; 0.01, -0.012 ± 0.004 / -0.009 ± 0.003; 0.003, -0.040 ± 0.005 / -0.048 ± 0.006. With eps = 0.01, another bandwidth rule does not help (mean distance: -0.015 ± 0.003 / -0.003 ± 0.002; median similar), nor do 50 starts (-0.012 ± 0.004 / -0.006 ± 0.003). Without standardizing, every metric except RCA's falls to 0.52 to 0.55, and the difference is 0.000 ± 0.002 / +0.014 ± 0.003.",
		"pima-diabetes with little side information and breast-w are ties: over 100 constraint sets, seed 1, eps = 0.01 the differences are -0.002 ± 0.003, and +0.001 ± 0.001 / +0.001 ± 0.000; with eps = 0.03 pima-diabetes has +0.002 ± 0.002.",
		"RCA with little side information can be below the linear kernel: its covariance comes from few chunklets. On heart (100 constraint sets, seed 1) eps = 0.01, 0.1 and 1 give it 0.585, 0.634 and 0.727, where the linear kernel has 0.740.",
	}
}
