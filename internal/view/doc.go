// Package view shows data and learned metrics to people: pictures of points in the plane with their
// links, and of lines; and one page about data, links and metrics.
//
// A picture is one or more panels side by side, each a [Scatter], [Lines] or [Drawing],
// written by [Write] as PNG, SVG or PDF. The bytes depend on the picture alone. There are twelve
// colors, the same on a page, which people with any color vision can tell apart; eight and more
// groups also differ in shape, lines in dashes.
//
// A page, a [Report] written by [WriteReport], is an HTML file that requires no network,
// no font, no other file. Every text in it stays text, whatever it contains. A script in the page
// shows, hides, colors and names the points; without scripts the page still has all tables and
// pictures.
package view
