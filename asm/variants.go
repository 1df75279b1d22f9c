package asm

// variants lists the levels above Generic that this build has kernels for and this CPU
// runs, slowest first. There are none yet.
func variants() []variant { return nil }
