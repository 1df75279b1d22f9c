// Command docrun runs the commands and programs of the documentation and compares what they
// print with what the pages show.
//
//	docrun [-module DIR] [-bin DIR] [-update] PAGE...
//
// A page is Markdown; its fenced blocks are read by their language:
//
//   - console: lines that begin with "$ " are commands, lines that begin with "> " behind one go
//     on with it, and the lines up to the next command are what it prints, standard output and
//     error together. A command without such lines only has to succeed.
//   - sh: a script for bash -euo pipefail, whose output is not compared.
//   - go: a whole program (it begins with "package main"), compiled in the module and run, that
//     ends with a comment "// Output:", as examples do; or a snippet, which must name the file of
//     the module that holds its lines.
//
// Other languages are not looked at. All blocks of a page run in one scratch folder, one after the
// other, with the folder -bin in front of PATH.
//
// In what is shown, numbers with a point or an exponent may differ by 0.005 + 1 % and durations and
// sizes (30.38s, 7ms, 1.2 GiB) by anything; all else is compared as it stands, but for the width of
// white space. "..." stands for any text within a line, and alone on a line for any lines.
//
// A comment above a block says what is special about it:
//
//	<!-- run: skip, REASON -->           it is not run
//	<!-- run: code 2 -->                 its last command ends with that exit code
//	<!-- run: data NAME [as NAME], … --> it wants files of the folder MUSTLINK_DATA; skipped without
//	<!-- run: from FILE -->              the lines of the snippet stand in FILE, in this order
//
// Links of a page to files and headings must lead somewhere.
//
// With -update the shown output of commands that print something else is replaced.
package main
