package paper

// What was tried for the differences from the paper; the numbers are those of experiments.

func yeungSmallTried() []string { return nil }

func yeungClassifiersTried() []string { return nil }
