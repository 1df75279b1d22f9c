package wrong

import "testing"

func TestOne(t *testing.T) {
	if One() != 2 {
		t.Error("one is not two")
	}
}
