package model

import "testing"

// TestDescriptionIsRequired: a file of version 1 may lack the checksum of its header, as the first
// ones did; not one that lists its tensors, nor one of a later version.
func TestDescriptionIsRequired(t *testing.T) {
	without := map[string]string{keyHeader: "{}"}
	for _, c := range []struct {
		header Header
		may    bool
	}{
		{Header{FormatVersion: 1}, true},
		{Header{FormatVersion: 1, Tensors: []string{"x"}}, false},
		{Header{FormatVersion: 2}, false},
	} {
		if err := checkDescription(c.header, without, nil); (err == nil) != c.may {
			t.Errorf("version %d, tensors %q: error %v", c.header.FormatVersion, c.header.Tensors, err)
		}
		with := map[string]string{keyHeader: "{}", keyDescribing: checksum("{}", nil)}
		if err := checkDescription(c.header, with, nil); err != nil {
			t.Errorf("version %d with its checksum: %v", c.header.FormatVersion, err)
		}
	}
}
