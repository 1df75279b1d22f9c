// Package browser opens the report page of package internal/view in a headless Chromium. Its tests
// check what the page draws and how it reacts; its benchmark measures how fast.
package browser
