package paper

// luTrainTried describes what was tried for Figure 2.
func luTrainTried() []string { return nil }

// luPosesTried describes what was tried for Figure 6.
func luPosesTried() []string { return nil }

// luSemiTried describes what was tried for Figure 3.
func luSemiTried() []string { return nil }
