// Command docrun runs the commands and programs of the documentation and compares what they
// print with what the pages show.
//
//	docrun [-module DIR] [-bin DIR] [-update] PAGE...
//
// A page is Markdown; its fenced blocks are read by their language:
//
//   - console: lines that begin with "$ " are commands, lines that begin with "> " after
//     one continue it, and the lines up to the next command are its output, standard output and
//     error together. A command without output lines only has to succeed.
//
//   - sh: a script for bash -euo pipefail, whose output is not compared.
//
//   - go: a whole program (it begins with "package main"), compiled in the module and run, that
//     ends with a comment "// Output:", as examples do; or a snippet, which must name the file of
//     the module that holds its lines.
//
//   - python: the blocks of a page are one program, run if MUSTLINK_LIBRARY names the library, with
//     $PYTHON or python3 and the package in PYTHONPATH.
//
// Blocks in other languages are not run. A line at the end counts the blocks of each language that
// were run, and those that were not by the reason. All
// blocks of a page run in one scratch folder, one after the other, with the folder -bin in front of
// PATH.
//
// Shown numbers with a point or an exponent may differ by 0.005 + 1 %, durations and sizes (30.38s,
// 7ms, 1.2 GiB) by any amount; all other text must be equal, except for the width of white space.
// "..." matches any text within a line, and alone on a line it matches any lines.
//
// A comment above a block changes how it is run:
//
//	<!-- run: skip, REASON -->           it is not run
//	<!-- run: code 2 -->                 its last command ends with that exit code
//	<!-- run: data NAME [as NAME], … --> it requires files of the folder MUSTLINK_DATA; else skipped
//	<!-- run: from FILE -->              FILE contains the lines of the snippet, in this order
//	<!-- run: after FILE -->             the Python of FILE runs first, and gives the block its names
//
// Links of a page to files and headings must lead to existing ones.
//
// With -update the shown output of commands that print something else is replaced.
package main
