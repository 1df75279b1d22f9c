// Package baseline (internal: may change) has the linear methods that the papers compare with:
// each learns a linear map of the features, or takes the points as they are. A method is the type
// of its parameters, as [RCA] or [LMNN], whose documentation states what the method computes.
// Package nonlinear has the other baselines.
package baseline

// The names of the methods in the catalog and in model files.
const (
	AdaptMethod      = "adapt"
	CovarianceMethod = "covariance"
	DCAMethod        = "dca"
	LFDAMethod       = "lfda"
	LMNNMethod       = "lmnn"
	LSMLMethod       = "lsml"
	MLKRMethod       = "mlkr"
	MMCMethod        = "mmc"
	NCAMethod        = "nca"
	RCAMethod        = "rca"
	RawMethod        = "raw"
	SCMLMethod       = "scml"
	SDMLMethod       = "sdml"
	XRCAMethod       = "xrca"
	XiangMethod      = "xiang"
)
