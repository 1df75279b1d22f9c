package main

import "strings"

// License returns the SPDX name of a license by a characteristic phrase of its text: of a
// permissive license, of the Mozilla license, which tests may link, or "" for any other text.
func License(text string) string {
	flat := strings.ToLower(strings.Join(strings.Fields(text), " "))
	has := func(parts ...string) bool {
		for _, p := range parts {
			if !strings.Contains(flat, p) {
				return false
			}
		}
		return true
	}
	switch {
	case has("subject to your choice of exactly one of", "the freetype license"):
		return "FTL"
	case strings.HasPrefix(flat, "mozilla public license version 2.0"):
		return "MPL-2.0"
	case has("general public license") || has("mozilla public license"):
		return ""
	case strings.HasPrefix(flat, "creative commons attribution 4.0"):
		return "CC-BY-4.0"
	case has("apache license", "version 2.0"):
		return "Apache-2.0"
	case has("permission is hereby granted, free of charge", "without restriction"):
		return "MIT"
	case has("permission to use, copy, modify, and", "distribute this software for any purpose"):
		return "ISC"
	case has("redistribution and use in source and binary forms", "neither the name"):
		return "BSD-3-Clause"
	case has("redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	case has("this is free and unencumbered software"):
		return "Unlicense"
	}
	return ""
}
