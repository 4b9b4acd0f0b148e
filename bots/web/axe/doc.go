// Package axe has the rules of accessibility, axe-core, that the pages of bots/web are held to. The test is in
// cmd/heddle, since it takes the whole program; "make fidelity" installs the rules and runs it.
package axe
