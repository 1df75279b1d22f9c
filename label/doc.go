// Package label (may change) asks people which rows of a table belong together, on a page in their
// browsers, and learns a metric from the answers meanwhile.
//
// A [Session] is an http.Handler, to be mounted in a server. It chooses the pairs to ask about by
// package activelearning. Every answer is in a file of links, and on disk, before the next
// question: a crash loses nothing, and another session with the same file resumes. A fit in the
// background measures what the answers bring (package verdict), and draws all rows in the learned
// metric.
//
// A request needs the key of a person, which is the first part of its path. Requests that a page of
// another origin makes, and those for a host with another name, are refused. Texts and names reach
// the page as text only. Images are read below one folder, and served if their first bytes are
// those of an image without scripts.
package label
