// Package nonlinear (internal: may change) has the nonlinear methods that the papers compare
// with: kernels, kernel matrices on graphs, and maps that bend. A method is the type of its
// parameters, as [KPCA] or [CMVU], whose documentation states what the method computes. Package
// baseline has the linear ones.
package nonlinear

// The names of the methods in the catalog and in model files.
const (
	CMVUMethod       = "cmvu"
	KPCAMethod       = "kpca"
	KleinMethod      = "klein"
	LLMAMethod       = "llma"
	NPKMethod        = "npk"
	SDPLRMethod      = "sdplr"
	SimpleNPKLMethod = "simplenpkl"
	SpectralMethod   = "spectral"
)
