//go:build !purego && !noasm

package asm

// variants lists the levels above Generic that this CPU runs. Go requires Advanced SIMD of every
// arm64 processor.
func variants() []variant { return []variant{{NEON, neon().apply, neonSingle().apply}} }

// neon has no kernels that bypass the caches: stores of whole lines bypass them anyway.
func neon() *simd {
	return &simd{
		lanes: 2, mr: 8, nr: 6, kc: 256,
		direct: []directKernel{direct1xNEON, direct2xNEON, direct3xNEON},
		tile:   tileNEON, peak: peakNEON, transpose: transposeNEON,
		dot: dotNEON, sum: sumNEON, squaredDistance: squaredDistanceNEON,
		axpy: axpyNEON, scale: scaleNEON, power: powerNEON,
		sqrt: sqrtNEON, squaredDistances: squaredDistancesNEON, exp: expNEON, expRest: expRestNEON,
		firstBelow: firstBelowNEON, narrow: narrowNEON,
		choleskyOnes: choleskyOnesNEON, sweep: sweepNEON,
		sparse: [4]func(int, *int, *int32, *float64, *float64, int, *float64, int){sparse1xNEON,
			sparse2xNEON, sparse3xNEON, sparse4xNEON},
		recur: [4]func(int, *int, *int32, *float64, *float64, int, *float64, int, *float64, float64,
			float64, float64){recur1xNEON, recur2xNEON, recur3xNEON, recur4xNEON},
		gaussian: gaussianNEON,
	}
}

func expRestNEON(dst, x []float64) {
	r := load(x)
	expNEON(2, &r[0], &r[0])
	copy(dst, r[:])
}

func neonSingle() *singleSIMD {
	return &singleSIMD{lanes: 4, mr: 8, nr: 12, tile: singleTileNEON, distances: singleDistancesNEON,
		exp: singleExpNEON, sqrt: singleSqrtNEON}
}
