package view

import "bytes"

// inline returns an SVG document as an element: without the declaration and the document type
// before it.
func inline(svg []byte) []byte {
	if at := bytes.Index(svg, []byte("<svg")); at >= 0 {
		return svg[at:]
	}
	return nil
}
