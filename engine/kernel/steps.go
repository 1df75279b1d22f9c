package kernel

// Step is one scalar map of a kernel, as data, for programs that evaluate a kernel elsewhere. It
// maps an inner product <x,y> and the squared lengths <x,x> and <y,y>.
type Step struct {
	// Name is "rbf", exp(-Decay |x-y|^2); "exp", exp(-Decay |x-y|); "poly", (Scale <x,y> +
	// Coef)^Degree; "sigmoid", tanh(Scale <x,y> + Coef); "cosine" or "spectrum", <x,y> / (|x| |y|),
	// within [-1, 1], and 0 if a length is 0.
	Name        string
	Decay       float64
	Degree      int
	Coef, Scale float64

	stage stage
}

// Steps returns the maps of the kernel in the order of evaluation, each in the feature space of the
// one before; none for the linear kernel.
func (k Kernel) Steps() []Step {
	var list []Step
	for _, s := range k.stages {
		step := Step{Name: s.kind.String(), Degree: s.degree, Coef: s.coef, Scale: s.scale, stage: s}
		if s.kind.shiftInvariant() {
			step.Decay = s.decay()
		}
		list = append(list, step)
	}
	return list
}

// Self returns the step's value for a point with itself, whose squared length is xx.
func (s Step) Self(xx float64) float64 { return s.stage.self(xx) }

// Value returns the step's value for an inner product xy and the squared lengths xx and yy.
func (s Step) Value(xy, xx, yy float64) float64 { return s.stage.apply(xy, xx, yy) }
