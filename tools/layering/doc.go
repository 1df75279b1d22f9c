// Package layering checks the one rule of the module's structure: imports point downwards.
//
// The floors, lowest first, are asm, blas, engine, solvers, algorithms, the root package, view,
// session, cmd; a package may import its own floor and those below it, subject to the finer rules
// of Check. Forbidden finds what code below the programs must not do: read flags or the
// environment, or print. The package's tests apply both to every file of the module, for all build
// tags, and search for assembly in the pure-Go build.
//
// No package imports this one; it exists for its tests.
package layering
