package shard

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// Files returns the sorted files that match a pattern of [filepath.Match], or one of several
// patterns, separated by commas. Hidden files match only where the pattern begins with a dot:
// unfinished files are hidden. Files that a job is replacing are an error: see [Staging].
func Files(pattern string) ([]string, error) {
	var files []string
	for one := range strings.SplitSeq(pattern, ",") {
		found, err := filepath.Glob(one)
		if err != nil {
			return nil, &fault.ParamError{Param: "pattern", Value: one,
				Want: "a name with *, ? and [a-z], such as data-*.npy"}
		}
		hidden := strings.HasPrefix(filepath.Base(one), ".")
		found = slices.DeleteFunc(found, func(path string) bool {
			return !hidden && strings.HasPrefix(filepath.Base(path), ".")
		})
		if len(found) == 0 {
			return nil, fault.Data(one, "no such file: %w", os.ErrNotExist)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	if twice := len(files); len(slices.Compact(files)) < twice {
		return nil, &fault.ParamError{Param: "pattern", Value: pattern,
			Want: "patterns that match no file twice"}
	}
	return files, whole(files)
}
