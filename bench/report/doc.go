// Package report writes one page about data, links and learned metrics: an HTML file that needs nothing else, no network, no
// font, no other file.
//
// What it is given is text and numbers; every text stays text, whatever it holds. Points are drawn by a script in the page
// that can show, hide, colour and name them; without scripts the page still has all tables and pictures.
package report
