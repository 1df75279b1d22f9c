package cluster

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mustlink/mustlink/engine/links"
)

// ErrInfeasible is what errors.Is finds in every *[InfeasibleError].
var ErrInfeasible = errors.New("cluster: the links cannot be satisfied")

// InfeasibleError reports that no assignment to K clusters that satisfies all links exists,
// or that none was found.
type InfeasibleError struct {
	K int
	// Proven says that no such assignment exists. Otherwise the search was given up.
	Proven bool
	// Rows are the rows that could not be placed: one, the lowest, of each must-link
	// component concerned, ascending. When the failure is proven, these alone have no
	// assignment. When Exclusive is set they exclude one another in pairs.
	Rows      []int
	Exclusive bool
	// Links are the cannot-links among those components, at least one for each pair that
	// excludes one another.
	Links []links.Link
	// Conflict is the contradiction when a cannot-link lies inside a must-link component;
	// then Rows are its two rows.
	Conflict *links.ConflictError
}

// Error names the rows, the links and the ways out.
func (e *InfeasibleError) Error() string {
	if e.Conflict != nil {
		return fmt.Sprintf("cluster: no assignment satisfies the links: %v; drop one of these links", e.Conflict)
	}
	rows, pairs := listRows(e.Rows), listLinks(e.Links)
	switch {
	case e.Exclusive:
		return fmt.Sprintf("cluster: no assignment to %s satisfies the cannot-links: the %d must-link components of rows %s exclude one another (%s); "+
			"use at least %d clusters or drop one of these links", clusters(e.K), len(e.Rows), rows, pairs, len(e.Rows))
	case e.Proven:
		return fmt.Sprintf("cluster: no assignment to %s satisfies the cannot-links among the must-link components of rows %s (%s); "+
			"use more clusters or drop one of these links", clusters(e.K), rows, pairs)
	}
	return fmt.Sprintf("cluster: found no assignment to %s that satisfies the cannot-links among the must-link components of rows %s (%s), though one may exist; "+
		"use more clusters or drop some of these links", clusters(e.K), rows, pairs)
}

// Is makes errors.Is(err, ErrInfeasible) true.
func (e *InfeasibleError) Is(target error) bool { return target == ErrInfeasible }

// Unwrap returns the contradiction inside a must-link component, if that is the cause.
func (e *InfeasibleError) Unwrap() error {
	if e.Conflict == nil {
		return nil
	}
	return e.Conflict
}

// InputFault marks the error as caused by input.
func (e *InfeasibleError) InputFault() {}

func clusters(k int) string {
	if k == 1 {
		return "1 cluster"
	}
	return fmt.Sprintf("%d clusters", k)
}

// listed bounds how many rows or links a message names.
const listed = 12

func listRows(rows []int) string {
	return list(len(rows), func(i int) string { return fmt.Sprint(rows[i]) })
}

func listLinks(ls []links.Link) string {
	return "cannot-links " + list(len(ls), func(i int) string {
		if ls[i].Line > 0 {
			return fmt.Sprintf("%d-%d (line %d)", ls[i].I, ls[i].J, ls[i].Line)
		}
		return fmt.Sprintf("%d-%d", ls[i].I, ls[i].J)
	})
}

func list(n int, item func(int) string) string {
	var b strings.Builder
	for i := range min(n, listed) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(item(i))
	}
	if n > listed {
		fmt.Fprintf(&b, " and %d more", n-listed)
	}
	return b.String()
}
