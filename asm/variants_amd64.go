//go:build amd64 && !purego && !noasm

package asm

import "github.com/klauspost/cpuid/v2"

// variants lists the levels above Generic that this CPU and its operating system run, slowest
// first.
func variants() []variant {
	var v []variant
	if cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.BMI1) {
		v = append(v, variant{AVX2, avx2().apply, avx2Single().apply})
	}
	if cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.BMI1, cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512VL) {
		v = append(v, variant{AVX512, avx512().apply, avx512Single().apply})
	}
	return v
}

func avx2() *simd {
	return &simd{
		lanes: 4, mr: 4, nr: 12, kc: 256,
		direct: []directKernel{direct1xAVX2, direct2xAVX2, direct3xAVX2},
		tile:   tileAVX2, peak: peakAVX2, transpose: transposeAVX2,
		dot: dotAVX2, sum: sumAVX2, squaredDistance: squaredDistanceAVX2,
		axpy: axpyAVX2, scale: scaleAVX2, power: powerAVX2,
		sqrt: sqrtAVX2, squaredDistances: squaredDistancesAVX2, exp: expAVX2, expRest: expRestAVX2,
		firstBelow: firstBelowAVX2, stream: streamAVX2, fence: fenceAVX2, narrow: narrowAVX2,
		choleskyOnes: choleskyOnesAVX2, sweep: sweepAVX2,
		sparse: [4]func(int, *int, *int32, *float64, *float64, int, *float64, int){sparse1xAVX2,
			sparse2xAVX2, sparse3xAVX2, sparse4xAVX2},
		recur: [4]func(int, *int, *int32, *float64, *float64, int, *float64, int, *float64, float64,
			float64, float64){recur1xAVX2, recur2xAVX2, recur3xAVX2, recur4xAVX2},
		gaussian: gaussianAVX2, streamTransposed: streamTransposedAVX2,
	}
}

func avx512() *simd {
	return &simd{
		lanes: 8, mr: 8, nr: 24, kc: 384,
		direct: []directKernel{direct1xAVX512, direct2xAVX512, direct3xAVX512},
		tile:   tileAVX512, peak: peakAVX512, transpose: transposeAVX512,
		dot: dotAVX512, sum: sumAVX512, squaredDistance: squaredDistanceAVX512,
		axpy: axpyAVX512, scale: scaleAVX512, power: powerAVX512,
		sqrt: sqrtAVX512, squaredDistances: squaredDistancesAVX512, exp: expAVX512, expRest: expRestAVX512,
		firstBelow: firstBelowAVX512, stream: streamAVX512, fence: fenceAVX512, narrow: narrowAVX512,
		choleskyOnes: choleskyOnesAVX512, sweep: sweepAVX512,
		sparse: [4]func(int, *int, *int32, *float64, *float64, int, *float64, int){sparse1xAVX512,
			sparse2xAVX512, sparse3xAVX512, sparse4xAVX512},
		recur: [4]func(int, *int, *int32, *float64, *float64, int, *float64, int, *float64, float64,
			float64, float64){recur1xAVX512, recur2xAVX512, recur3xAVX512, recur4xAVX512},
		gaussian: gaussianAVX512, streamTransposed: streamTransposedAVX512,
	}
}

func expRestAVX2(dst, x []float64) {
	r := load(x)
	expAVX2(4, &r[0], &r[0])
	copy(dst, r[:])
}

func expRestAVX512(dst, x []float64) {
	r := load(x)
	expAVX512(8, &r[0], &r[0])
	copy(dst, r[:])
}

func avx2Single() *singleSIMD {
	return &singleSIMD{lanes: 8, mr: 4, nr: 24, tile: singleTileAVX2, distances: singleDistancesAVX2,
		exp: singleExpAVX2, sqrt: singleSqrtAVX2, streamTransposed: singleStreamTransposedAVX2}
}

func avx512Single() *singleSIMD {
	return &singleSIMD{lanes: 16, mr: 12, nr: 32, tile: singleTileAVX512, distances: singleDistancesAVX512,
		exp: singleExpAVX512, sqrt: singleSqrtAVX512, streamTransposed: singleStreamTransposedAVX512}
}
