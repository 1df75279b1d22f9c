// Package apilist writes down the promised names of the library with their types, one a line,
// so that a change of what others compile against shows in a diff of api/v1.txt.
package apilist
