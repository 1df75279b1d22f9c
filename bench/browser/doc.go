// Package browser opens the report page of package internal/view in a headless Chromium: its tests
// look at what is drawn and how the page answers, its benchmark at how fast.
package browser
