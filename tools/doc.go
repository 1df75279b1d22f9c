// Package tools is the root of the module of the project's own tools, which are no part of any
// product. The module imports mustlink; no package imports it.
//
// The package has no code. The programs are apilist (the promised names), docrun (the commands of
// the documentation), words (the terms of docs/glossary.md), supply (bill of materials), release
// (the files of a release), hostile (broken files, kills, extreme parameters), drawn (what property
// tests reach), mutants (planted faults that no test finds), pygen (the Python estimators) and
// tables (what tests in Python compare with). The tests of layering check the imports of all
// packages, those of doclinks their comments, those of priced the memory that input takes, those of
// supply the licenses of other modules.
package tools
