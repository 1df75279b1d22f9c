// Package above imports half.
package above

import "example.org/m/half"

// Four is 4.
func Four() int { return half.Double(2) }
