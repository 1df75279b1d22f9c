package dataset

import (
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/difftest"
)

// mixedOf reads a text as a mixed table.
func mixedOf(t testing.TB, text string, o ReadOptions) (*points.Mixed, *Data) {
	t.Helper()
	o.Mixed = true
	d, err := decode(text, o)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := d.Points.(*points.Mixed)
	if !ok {
		t.Fatalf("points are %T, want *points.Mixed", d.Points)
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	return p, d
}

// A customer's table goes in as it is.
func TestReadMixed(t *testing.T) {
	p, d := mixedOf(t, `id,day,country,plan,income,name,label
1,2024-01-05,PT,basic,1200.5,"Smith, John",a
2,2024-02-01,,pro,,"O""Hara",b
3,NA,PT,pro,-3e2, Lee,a
4,2024-01-05,n/a,?,null,Écija,b
`, ReadOptions{})
	nan := math.NaN()
	want := &points.Mixed{N: 4, Columns: []points.Column{
		{Name: "day", Codes: []int32{0, 1, -1, 0}, Levels: []string{"2024-01-05", "2024-02-01"}},
		{Name: "country", Codes: []int32{0, -1, 0, -1}, Levels: []string{"PT"}},
		{Name: "plan", Codes: []int32{0, 1, 1, -1}, Levels: []string{"basic", "pro"}},
		{Name: "income", Numbers: []float64{1200.5, nan, -300, nan}},
		{Name: "name", Codes: []int32{0, 1, 2, 3}, Levels: []string{"Smith, John", `O"Hara`, "Lee", "Écija"}},
	}}
	if diff := difftest.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(d.Labels, "") + strings.Join(d.IDs, ""); got != "abab1234" {
		t.Errorf("labels and ids %q", got)
	}
}

// White space around a cell never counts, in quotes or not.
func TestWhiteSpaceAroundCells(t *testing.T) {
	p, d := mixedOf(t, "id , c,x,label\n u1,a,1,p\nu2 ,a ,2, p\n u3 ,\" a\", 3 ,p \nu4,\"a \t\",\" 4\",\"p\"\n\"u5\n\",\u00a0a\u00a0,5,\" p\"\nu6,\" NA \",NA ,q\n", ReadOptions{})
	want := &points.Mixed{N: 6, Columns: []points.Column{
		{Name: "c", Codes: []int32{0, 0, 0, 0, 0, -1}, Levels: []string{"a"}},
		{Name: "x", Numbers: []float64{1, 2, 3, 4, 5, math.NaN()}},
	}}
	if diff := difftest.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(d.Labels, "") + strings.Join(d.IDs, ""); got != "pppppqu1u2u3u4u5u6" {
		t.Errorf("labels and ids %q", got)
	}
	for _, ids := range [][]string{d.IDs, {"u1", "u2 ", " u3", "u4", "u5", "u6"}} {
		set, err := DecodeLinks(strings.NewReader("i,j,link\nu2, u3 , must \n"), "l.csv", false, LinkContext{N: 6, IDs: ids, By: ByID})
		if err != nil || set.Len() != 1 {
			t.Errorf("links of %q: %v, %v: want one", ids, set, err)
		}
	}
	if _, err := decode("id,x\nu1,1\nu1 ,2\n", ReadOptions{}); err == nil || !strings.Contains(err.Error(), `id "u1" is already on line 2`) {
		t.Errorf("error %v of ids that differ by white space: want a refusal", err)
	}
}
