package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/bench/printed"
)

// tsang4 is the clustering experiment of Tsang, Cheung & Kwok on twelve data sets.
func tsang4() Table { return uciTable(tsangSets()) }

// uciTable is the table for some data sets.
func uciTable(sets []tsangSet) Table {
	t := Table{
		Name:        "tsang-4",
		Paper:       tsangPaper,
		Label:       "Table IV",
		Caption:     "clustering of real data with little and with much side information",
		Repetitions: 20,
		Decimals:    3,
		Steps:       len(sets) * len(uciLevels()),
		Setup:       uciSetup(),
		Differences: uciDifferences(),
		Tried:       uciTried(),
		Revision:    1,
		Prepare:     uciPrepare(sets),
		Trial:       uciTrial(sets),
		Compared:    stars,
		Claims:      tsang4Claims,
		Partial:     tsangPartial(),
		Notes:       uciNotes,
		Own:         "kernel RCA",
		Variants:    []string{"kernel RCA, default"},
		Good:        Higher,
		Why: "Euclidean metric and Gaussian kernel: the best of ten starts varies little, so " +
			"differences of 0.006 to 0.023 count; from one start 30 of their 32 numbers on the eight small " +
			"sets are " +
			"reproduced, but kernel RCA then fails on ionosphere. RCA on ionosphere: only a larger eps " +
			"would do. " +
			"Kernel RCA is behind on heart and pima here as in the paper: eps = 0.01 closes most of the " +
			"gap there and " +
			"costs 0.1 to 0.2 on vehicle.",
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
	methods := []string{"Euclidean", "RCA", "Gaussian kernel", "KRCA (Gaussian kernel)"}
	t.print(func(row, column string) printed.Key {
		i := slices.Index(uciNames(), row)
		if i >= uciPrinted {
			return printed.Key{}
		}
		set, level, _ := strings.Cut(column, ", ")
		return printed.Key{Table: "tsang-4", Dataset: set, Condition: level, Method: methods[i],
			Measure: "rand_index"}
	})
	return t
}

// tsangData4 describes the data sets.
func tsangData4() string {
	var drawn []string
	for _, set := range tsangSets() {
		if set.perClass > 0 {
			drawn = append(drawn, fmt.Sprintf("%s: %d rows of each class", set.name, set.perClass))
		}
	}
	return "the rows of the twelve files, some of them drawn once for all repetitions (" +
		strings.Join(drawn, "; ") +
		"). Features that do not vary are left out, and every other one is standardized to mean 0 and " +
		"standard deviation 1 over the rows in use; " +
		fmt.Sprintf("USPS has the %d leading principal components of its pixels instead, as they are.",
			uspsSet().components)
}

func uciSetup() []string {
	return []string{
		"Data: " + tsangData4(),
		"Side information, drawn again in every repetition: pairs of rows of the same class, uniformly and " +
			"without replacement, until round(f n) connected components remain, with f = 0.9 (little) or " +
			"0.7 (much) " +
			"for n rows. Components of at least two rows are the chunklets.",
		fmt.Sprintf("Gaussian kernel: exp(-|x-y|^2 / (2 sigma^2)), 2 sigma^2 = 0.8 times the mean squared "+
			"distance between two rows of the set (%s).", tsangWidth),
		fmt.Sprintf("RCA and kernel RCA: whitening by (C + eps I)^-1/2, with C the covariance within "+
			"chunklets in the space of the linear or the Gaussian kernel, and eps = %g times the mean of "+
			"k(x, x) over "+
			"the rows; all directions.", tsangEpsRel),
		fmt.Sprintf("Clustering: constrained k-means, as many clusters as classes; every connected "+
			"component of the must-links moves as one block to the center that minimizes its summed "+
			"squared distance. "+
			"The best objective of %d starts, each from the means of blocks drawn at random; all systems "+
			"and both "+
			"levels of a repetition have the same generator of starts. In feature spaces it runs exactly, "+
			"on block "+
			"averages of the Gram matrix.", tsangStarts),
		"Measure: balanced Rand index, half the share of pairs within a class that are in one cluster plus " +
			"half the share of pairs between classes that are in two clusters, over all pairs of rows, " +
			"including " +
			"linked ones.",
		"Rows named default, not in the paper: the methods rca and krca with the defaults of mustlink " +
			"(eps_rel = 1e-6 of the variance within chunklets; 20 centered directions), in their embeddings.",
		"Stars: a system has one if it is better than each of the other three by the paired Wilcoxon test " +
			"at 0.05 over the repetitions.",
	}
}

// tsangUSPS describes what the paper leaves open about USPS.
const tsangUSPS = "USPS: the paper has 88 features and 2500 rows and does not say how. Over 2500 rows, 250 " +
	"of each digit, 95 % of the variance of the pixels lies in 89 principal components (of standardized " +
	"pixels: 107), so we take the first 88 of the pixels as they are. Which rows of letter and satellite the " +
	"paper drew is not known either."

func uciDifferences() []string {
	return []string{
		"The paper does not say how features are scaled, how wide the Gaussian is, what eps is, how many " +
			"starts k-means has and how often it repeats. One choice for all its tables: standardized " +
			"features, the " +
			"width and the eps that mustlink has as defaults (msq, 0.001), ten starts.",
		"Measure: the formula in the paper is the plain Rand index, but its numbers for more than two " +
			"classes are those of the balanced index of Xing et al. (2002), whose design it follows. With " +
			"the plain " +
			"index the Euclidean metric has 0.67 / 0.67 on glass and 0.64 / 0.65 on vehicle (little / " +
			"much); printed " +
			"are 0.614 / 0.635 and 0.540 / 0.557, balanced 0.61 / 0.62 and 0.54 / 0.55.",
		"The paper says that 70 % connected components are little and 90 % are much side information. That " +
			"is exchanged: more pairs leave fewer components. Here f = 0.9 is little.",
		tsangUSPS,
		"german is the file of 20 features, with nominal ones coded by number.",
	}
}

// uciTried describes what was tried; its values are those of the netlib build.
func uciTried() []string {
	return []string{
		"All trials below: the eight sets other than USPS, image, letter and satellite, 20 constraint " +
			"sets, ten starts. First: how many of their 16 printed numbers for a system are reproduced or " +
			"better; then " +
			"values little / much, with the printed ones in brackets.",
		"eps, the choice that matters for kernel RCA: 0.01 gives 14 of 16, 0.003 15, 0.001 16, 0.0003 16, " +
			"0.0001 15, 1e-6 12. It explains vehicle and heart: with 0.01 kernel RCA has 0.594 / 0.752 on " +
			"vehicle " +
			"(0.792 / 0.834) and 0.700 / 0.788 on heart (0.623 / 0.627), with 0.001 0.793 / 0.847 and " +
			"0.632 / 0.658. A " +
			"small eps trusts chunklets more, which helps where classes are many and hurts where two " +
			"overlap; the " +
			"paper shows both.",
		"eps of RCA: 0.001 of the mean squared norm, the same rule, gives 14 of 16, as do 0.01 and, " +
			"relative to the variance within chunklets, 0.1; 0.0001 gives 13 and 1e-6 of the variance " +
			"within chunklets " +
			"12. On ionosphere it stays below the paper with any eps below 0.01 (0.606 / 0.621, printed " +
			"0.661 / " +
			"0.690), and is above it with 0.01 (0.735 / 0.794).",
		"Scaling: with features between 0 and 1 (or -1 and 1, which is the same for all systems) the four " +
			"systems have 3, 14, 6 and 16 of 16, without scaling 8, 11, 9 and 11, standardized 12, 14, 13 " +
			"and 16. " +
			"Without scaling heart has 0.516 / 0.527 with the Euclidean metric (0.737 / 0.799), and kernel " +
			"RCA 0.587 / " +
			"0.671 on vehicle (0.792 / 0.834).",
		"Width of the Gaussian (rules msq, 1.118 msq, twice msq, half of msq, mean and median distance): " +
			"13, 11, 10, 6, 10 and 10 of 16 for the Gaussian kernel, and 16, 16, 14, 12, 14 and 14 for " +
			"kernel RCA with " +
			"eps = 0.001.",
		"Little and much as printed (f = 0.7 and 0.9): 8, 11, 8 and 12 of 16; kernel RCA 0.848 / 0.795 on " +
			"vehicle (0.792 / 0.834), the Euclidean metric 0.790 / 0.745 on heart (0.737 / 0.799). So the " +
			"words are " +
			"exchanged in the text, not in the table.",
		"Plain k-means instead of constrained: 3, 11, 1 and 16 of 16; the Euclidean metric has 0.725 on " +
			"heart with both amounts (0.737 / 0.799). So the paper clusters under the links.",
		"Starts: with 1, 2, 3, 5, 10 and 20 starts the four systems have together 56, 55, 55, 55, 55 and " +
			"53 of 64, so starts do not decide there. On all twelve sets and 12 constraint sets, one start " +
			"gives 82 of " +
			"96 numbers and 9 of 22 stars, ten give 84 and 10. One start agrees best on metrics that are " +
			"not learned " +
			"(43 of 48 instead of 38), and its larger spread makes agreement easier; but kernel RCA then " +
			"has 17 of 24 " +
			"instead of 24, and falls to 0.64 / 0.60 on ionosphere (0.830 / 0.807). k-means++ instead of " +
			"random " +
			"starts: 57 of 64.",
		"USPS, four constraint sets: 88 components of the pixels as they are give kernel RCA 0.905 / 0.926 " +
			"(0.896 / 0.927) and the Euclidean metric 0.795 / 0.861 (0.785 / 0.843). Standardized pixels " +
			"give 0.865 / " +
			"0.927 and 0.762 / 0.816, their 88 components 0.876 / 0.931 and 0.760 / 0.816, and " +
			"standardized components " +
			"0.789 / 0.846 and 0.738 / 0.832. With eps = 0.01 kernel RCA has 0.851 / 0.908. So the paper's " +
			"88 features " +
			"are most likely components of the raw pixels.",
	}
}
