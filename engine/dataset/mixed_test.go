package dataset

import (
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/same"
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
	if diff := same.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(d.Labels, "") + strings.Join(d.IDs, ""); got != "abab1234" {
		t.Errorf("labels and ids %q", got)
	}
}
