// Package catalog (engine room: may change) is the one table of all learning methods by name: it
// makes learners from strings, and saves and loads fitted models.
//
// Programs that take a method's name from a person go through here; programs that know
// which method they want import its package.
package catalog
