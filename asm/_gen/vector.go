package main

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vector is one level: the width of its registers and the shape of its tile.
type vector struct {
	suffix string
	lanes  int // of float64
	mr, nv int // the tile has mr rows of nv vectors
	new    func() reg.VecVirtual
}

func vectors() map[string]vector {
	return map[string]vector{
		// 24 sums, 3 vectors of B and a few of A in 32 registers.
		"avx512": {"AVX512", 8, 8, 3, func() reg.VecVirtual { return ZMM() }},
		// 12 sums, 3 vectors of B and 1 of A in 16 registers.
		"avx2": {"AVX2", 4, 4, 3, func() reg.VecVirtual { return YMM() }},
	}
}

func (v vector) bytes() int { return 8 * v.lanes }

// text begins a function of that level.
func (v vector) text(name, signature, doc string) {
	TEXT(name+v.suffix, NOSPLIT, "func"+signature)
	Pragma("noescape")
	Doc(lines(doc)...)
}

// lines breaks a doc comment into lines of at most 97 characters.
func lines(doc string) []string {
	var out []string
	for _, word := range strings.Fields(doc) {
		if last := len(out) - 1; last >= 0 && len(out[last])+1+len(word) <= 97 {
			out[last] += " " + word
		} else {
			out = append(out, word)
		}
	}
	return out
}

func (v vector) zero() reg.VecVirtual {
	r := v.new()
	v.clear(r)
	return r
}

func (v vector) clear(r reg.VecVirtual) {
	if v.lanes == 8 {
		VPXORQ(r, r, r)
	} else {
		VXORPD(r, r, r)
	}
}

// constant is a vector with one value in all lanes, from the read-only data.
func (v vector) constant(name string, value float64) reg.VecVirtual {
	r := v.new()
	VBROADCASTSD(ConstData(name+v.suffix, F64(value)), r)
	return r
}

// param is a float64 parameter in all lanes.
func (v vector) param(name string) reg.VecVirtual {
	r := v.new()
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSD(p.Addr, r)
	return r
}

// loop runs body for the vectors of n elements, the pointers advancing behind each: four
// vectors at a time as long as there are so many, if unrolled is set. n is a multiple of the
// lanes. body(u) works on vector u behind the pointers.
func (v vector) loop(name string, n reg.GPVirtual, pointers []reg.GPVirtual, unrolled bool,
	body func(u int)) {
	label := func(s string) string { return name + s }
	advance := func(vectors int) {
		for _, p := range pointers {
			ADDQ(U32(vectors*v.bytes()), p)
		}
		SUBQ(U32(vectors*v.lanes), n)
	}
	if unrolled {
		Label(label("four"))
		CMPQ(n, U32(4*v.lanes))
		JL(LabelRef(label("one")))
		for u := range 4 {
			body(u)
		}
		advance(4)
		JMP(LabelRef(label("four")))
	}
	Label(label("one"))
	CMPQ(n, U32(v.lanes))
	JL(LabelRef(label("end")))
	body(0)
	advance(1)
	JMP(LabelRef(label("one")))
	Label(label("end"))
}

// at is vector u behind a pointer.
func (v vector) at(p reg.GPVirtual, u int) Mem { return Mem{Base: p, Disp: u * v.bytes()} }

// pointers loads the pointer parameters of those names.
func pointers(names ...string) []reg.GPVirtual {
	var out []reg.GPVirtual
	for _, n := range names {
		out = append(out, Load(Param(n), GP64()).(reg.GPVirtual))
	}
	return out
}

func length() reg.GPVirtual { return Load(Param("n"), GP64()).(reg.GPVirtual) }

func done() {
	VZEROUPPER()
	RET()
}
