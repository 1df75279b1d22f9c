//go:build !unix || netlib

package dataset

import (
	"errors"
	"os"
)

func mapPages(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapPages([]byte) error { return nil }
